import { readFileSync } from 'node:fs'
import preact from '@preact/preset-vite'
import type { Plugin } from 'vite'
import { defineConfig } from 'vitest/config'

const server = process.env['SIGNPOST_SERVER'] ?? 'http://127.0.0.1:9018'
const proxy = { '/v2': server, '/version': server, '/ui/settings.json': server }

// licenses lists the packages that a bundle holds, with the licence of each.
function licenses(): Plugin {
  return {
    name: 'licenses',
    generateBundle(_, bundle) {
      const found = new Set<string>()
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== 'chunk') continue
        for (const [id, module] of Object.entries(chunk.modules)) {
          const own = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id.replaceAll('\\', '/').replace('\0', ''))
          if (own?.[1] && module.renderedLength > 0) found.add(own[1])
        }
      }
      const texts = [...found].sort().map((directory) => {
        const about = JSON.parse(readFileSync(`${directory}/package.json`, 'utf8')) as { name: string; version: string; license: string }
        const file = ['LICENSE', 'LICENSE.md', 'LICENSE.txt', 'license'].find((name) => exists(`${directory}/${name}`))
        return `${about.name} ${about.version} (${about.license})\n\n${file ? readFileSync(`${directory}/${file}`, 'utf8').trim() : 'Without a licence file; see its package.'}\n`
      })
      this.emitFile({ type: 'asset', fileName: 'licenses.txt', source: texts.join(`\n${'-'.repeat(72)}\n\n`) })
    },
  }
}

function exists(path: string): boolean {
  try {
    readFileSync(path)
    return true
  } catch {
    return false
  }
}

// Names of built files follow from their content alone, so that two builds are the same.
export default defineConfig({
  base: './',
  plugins: [preact({ devToolsEnabled: false, prefreshEnabled: false }), licenses()],
  build: {
    target: 'es2022',
    outDir: 'dist',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rollupOptions: { output: { entryFileNames: 'assets/[name]-[hash].js', chunkFileNames: 'assets/[name]-[hash].js', assetFileNames: 'assets/[name]-[hash][extname]' } },
  },
  server: { proxy },
  preview: { proxy },
  test: { environment: 'happy-dom', include: ['src/**/*.test.{ts,tsx}'], testTimeout: 60_000, hookTimeout: 60_000, server: { deps: { inline: ['@tanstack/react-query'] } } }, // else it would have React in place of Preact
})
