/** A thread that holds the write lock of a store until the flag is raised, and a few milliseconds longer. */
import { Database } from "bun:sqlite"

declare const self: Worker

self.onmessage = ({ data: { path, flag } }: MessageEvent<{ path: string; flag: Int32Array }>) => {
  const db = new Database(path)
  db.run("begin immediate")
  postMessage("held")
  Atomics.wait(flag, 0, 0)
  Bun.sleepSync(3)
  db.run("commit")
  db.close()
  postMessage("free")
}
