import { existsSync } from "node:fs"
import { join } from "node:path"
import { type Clickhouse, type ClickhouseServer, createClickhouse, type Send } from "../../../src/store/clickhouse/client.ts"
import { temporaryFolder } from "../../kit.ts"
import { CHDB_FOLDER, PASSWORD, sendDirectly, USER } from "./chdb.ts"

/** Returns whether ClickHouse is installed. Otherwise says why the calling test file is skipped: `describe.skipIf(!hasClickhouse())`. */
export function hasClickhouse(): boolean {
  const isThere = existsSync(join(CHDB_FOLDER, "node_modules/chdb"))
  if (!isThere) console.warn("Skipped, because ClickHouse is not installed. To install it: bun scripts/chdb/install.ts")
  return isThere
}

export interface TestServer extends AsyncDisposable {
  server: ClickhouseServer
  clickhouse: Clickhouse
  /** Kills the server. */
  stop(): Promise<void>
  /** Starts it again at the same address, with the same data. */
  start(): Promise<void>
}

/** Starts a ClickHouse server with an empty database. `send` replaces the network, for faults. */
export async function startClickhouse(send: Send = sendDirectly): Promise<TestServer> {
  const folder = temporaryFolder()
  let { child, port } = await spawnBridge(folder.path, 0)
  const server = { url: `http://127.0.0.1:${port}`, user: USER, password: PASSWORD, database: "footfall" }
  const stop = async () => {
    child.kill("SIGKILL")
    await child.exited
  }
  await createClickhouse({ ...server, database: "default" }, send).run("create database if not exists footfall")
  return {
    server,
    clickhouse: createClickhouse(server, send),
    stop,
    async start() {
      child = (await spawnBridge(folder.path, port)).child
    },
    async [Symbol.asyncDispose]() {
      await stop()
      folder[Symbol.dispose]()
    },
  }
}

async function spawnBridge(folder: string, port: number) {
  const command = [process.execPath, join(import.meta.dir, "bridge.ts"), folder, `${port}`]
  const child = Bun.spawn(command, { stdin: "pipe", stdout: "pipe", stderr: "inherit" })
  for await (const line of child.stdout) return { child, port: Number(new TextDecoder().decode(line)) }
  throw new Error("The ClickHouse of the tests did not start")
}
