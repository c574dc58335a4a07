import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

/** Runs a script in a folder that contains only the given files. */
export function runOnTree(
  script: string,
  files: Record<string, string>,
  words: readonly string[] = [],
  environment: Record<string, string> = {},
): { status: number; output: string; errors: string } {
  const folder = mkdtempSync(join(tmpdir(), "footfall-tree-"))
  try {
    for (const [name, text] of Object.entries(files)) write(join(folder, name), text)
    const run = Bun.spawnSync([process.execPath, join(import.meta.dir, "../..", script), ...words], {
      cwd: folder,
      env: { ...process.env, ...environment },
    })
    return { status: run.exitCode, output: run.stdout.toString(), errors: run.stderr.toString() }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
