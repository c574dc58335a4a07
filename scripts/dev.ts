/**
 * `bun run dev` fills ./dev-data once with two sites and ninety days of traffic, serves it from source and restarts when a file changes.
 * Further arguments are passed to the server (`bun run dev --port 8090`). FOOTFALL_DATA_DIR chooses another folder.
 */
import { existsSync, renameSync, rmSync } from "node:fs"
import { join, resolve } from "node:path"

const root = join(import.meta.dir, "..")
const dataDir = resolve(process.env.FOOTFALL_DATA_DIR ?? join(root, "dev-data"))
const main = [process.execPath, join(root, "src/main.ts")]

if (!existsSync(dataDir)) await fill()
const server = Bun.spawn([process.execPath, "--watch", "src/main.ts", "serve", "--data-dir", dataDir, ...Bun.argv.slice(2)], {
  cwd: root,
  env: { FOOTFALL_HOST: "127.0.0.1", ...process.env },
  stdio: ["inherit", "inherit", "inherit"],
})
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => server.kill(signal))
process.exit(await server.exited)

/** The folder has another name until it is complete, so that an interrupted run starts again from the beginning. */
async function fill(): Promise<void> {
  const filling = `${dataDir}-filling`
  rmSync(filling, { recursive: true, force: true })
  const password = crypto.randomUUID()
  const user = ["--email", "admin@localhost", "--name", "Admin", "--organization", "Development", "--password-stdin"]
  await run([...main, "setup", ...user, "--data-dir", filling], password)
  const shape = ["--days", "90", "--events", "100000", "--sites", "2", "--seed", "7"]
  await run([process.execPath, join(root, "scripts/seed.ts"), ...shape, "--data-dir", filling])
  renameSync(filling, dataDir)
  console.log(`Sign in as admin@localhost with ${password}; the key above can query and send events. Delete ${dataDir} to start over.\n`)
}

async function run(words: readonly string[], input = ""): Promise<void> {
  const child = Bun.spawn([...words], { cwd: root, stdin: new Blob([input]), stdout: "inherit", stderr: "inherit" })
  if ((await child.exited) !== 0) throw new Error(`${words.join(" ")} failed`)
}
