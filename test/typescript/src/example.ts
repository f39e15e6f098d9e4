import createClient from "openapi-fetch";
import type { paths } from "./signpost.gen.js";

const signpost = createClient<paths>({
  baseUrl: process.env["SIGNPOST_SERVER"] ?? "http://127.0.0.1:9018",
  headers: { Authorization: `Bearer ${process.env["SIGNPOST_TOKEN"]}` },
});

const { data, error } = await signpost.GET("/v2/projects/{project}/dns-update-records", {
  params: { path: { project: "shop" }, query: { limit: 100 } },
});
if (error) throw new Error(`${error.title}: ${error.detail}`);
for (const record of data.items) console.log(record.metadata.name, record.spec.provider);
