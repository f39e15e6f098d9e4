import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

const patience = 60_000; // milliseconds that anything may take on a busy machine

/** A running `signpost serve`, with a token of an admin. */
export class Server {
  private constructor(
    readonly url: string,
    readonly token: string,
    private readonly dir: string,
    private readonly process: ChildProcess,
  ) {}

  /** Starts the program that SIGNPOST_PROGRAM names and waits until it is ready. */
  static async start(): Promise<Server> {
    const program = process.env["SIGNPOST_PROGRAM"];
    if (program === undefined) throw new Error("SIGNPOST_PROGRAM must name the program; make test-typescript does it");
    const dir = await mkdtemp(join(tmpdir(), "signpost-typescript-"));
    const token = "typescript-token";
    await writeFile(join(dir, "tokens"), `${token},typescript,admin\n`, { mode: 0o600 });
    const log = await open(join(dir, "log"), "w");
    const ready = join(dir, "ready.json");
    const child = spawn(program, [
      "serve", "--listen=127.0.0.1:0", "--grpc-listen=127.0.0.1:0", `--data-dir=${join(dir, "data")}`,
      `--token-file=${join(dir, "tokens")}`, `--ready-file=${ready}`,
    ], { stdio: ["ignore", log.fd, log.fd] });
    await log.close();
    try {
      const address = await until("the server's ready file", async () => {
        if (child.exitCode !== null) throw new Error(`signpost ended: ${await readFile(join(dir, "log"), "utf8")}`);
        const text = await readFile(ready, "utf8").catch(() => { throw new Waiting("not there"); });
        return (JSON.parse(text) as { http: string }).http;
      });
      return new Server(`http://${address}`, token, dir, child);
    } catch (error) {
      child.kill("SIGKILL");
      throw error;
    }
  }

  /** Ends the server and answers its exit code. */
  async stop(): Promise<number | null> {
    const ended = new Promise<number | null>((resolve) => this.process.once("exit", resolve));
    this.process.kill("SIGTERM");
    const code = await ended;
    await rm(this.dir, { recursive: true });
    return code;
  }
}

/** Says that it is not yet so, and how it is instead. */
export class Waiting extends Error {}

/** Asks again until there is an answer; fails when there is none in time. */
export async function until<T>(what: string, ask: () => Promise<T>): Promise<T> {
  for (const end = Date.now() + patience; ; await pause(50)) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof Waiting)) throw error;
      if (Date.now() > end) throw new Error(`waited in vain for ${what}; it is ${error.message}`);
    }
  }
}
