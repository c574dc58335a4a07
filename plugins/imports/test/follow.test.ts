import { expect, test } from "bun:test"
import { appendFileSync, copyFileSync, renameSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { AnyPlugin } from "#plugin"
import { startInstance, temporaryFolder } from "#plugin/test"
import type { ImportsHost } from "../area.ts"
import imports, { createArea } from "../imports.ts"
import type { Author } from "../lifecycle.ts"
import { followLogs } from "../streams/follow.ts"
import { streamByName } from "../streams/rows.ts"
import { ANNA, BEN, CARA, log } from "./logs.ts"

const line = (minute: number, path: string, address = ANNA) => log([`2026-11-21T08:${String(minute).padStart(2, "0")}:00Z`, address!, path])

/** Follows a log of an instance. Runs start at once when lines were appended. */
async function startFollowing(options: object = {}) {
  const folder = temporaryFolder()
  let host: ImportsHost | undefined
  const setup: AnyPlugin["setup"] = (given) => {
    host = given as ImportsHost // the settings of the plugin
    return imports.setup(given)
  }
  const instance = await startInstance({ plugins: [{ ...imports, setup }] })
  const area = createArea(host!)
  const author: Author = { site: instance.site, actor: host!.audit.system, userId: null, permissions: { has: () => true } }
  const path = join(folder.path, "access.log")
  writeFileSync(path, "")
  const interrupt = new AbortController()
  let runs = 0
  const input = { source: "server_log", options: { stream: "web", ...options }, label: "Web", previewHash: undefined, force: false }
  const following = followLogs(author, input, [path], {
    imports: area.imports,
    everyMs: 20,
    signal: interrupt.signal,
    async completed() {
      const row = await streamByName(host!.db, 1, "web")
      return row && { importId: row.import_id, run: row.run }
    },
    async ended() {
      await instance.runJobs()
      runs++
    },
  })
  let fault: unknown
  following.catch((error: unknown) => {
    fault = error
  })
  return {
    instance,
    area,
    author,
    path,
    following,
    interrupt: () => interrupt.abort(),
    /** Waits until a number of runs have ended, and returns the rows of the import. Throws the fault that ended the following. */
    async rowsAfter(count: number) {
      for (; runs < count; await Bun.sleep(20)) if (fault !== undefined) throw fault
      const row = (await streamByName(host!.db, 1, "web"))!
      const { rows_read, rows_skipped, rows_rejected } = await area.imports.get(instance.site, String(row.import_id))
      return { read: rows_read, skipped: rows_skipped, rejected: rows_rejected }
    },
    async [Symbol.asyncDispose]() {
      interrupt.abort()
      await following.catch(() => {})
      await instance[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
}

test("a followed log is imported as it grows, without the line that is being written", async () => {
  await using stage = await startFollowing()
  const half = line(2, "/half")
  writeFileSync(stage.path, line(0, "/") + line(1, "/a") + half.slice(0, 40))
  expect(await stage.rowsAfter(1)).toEqual({ read: 2, skipped: 0, rejected: 0 })
  appendFileSync(stage.path, half.slice(40))
  expect(await stage.rowsAfter(2)).toEqual({ read: 3, skipped: 0, rejected: 0 })
  stage.interrupt()
  expect(await stage.following).toBeUndefined()
})

test("a followed log is read over its rotation, with what the server still writes to the old file", async () => {
  await using stage = await startFollowing()
  writeFileSync(stage.path, line(0, "/"))
  await stage.rowsAfter(1)
  const old = `${stage.path}.1`
  renameSync(stage.path, old)
  appendFileSync(old, line(1, "/old", BEN))
  expect(await stage.rowsAfter(2)).toEqual({ read: 2, skipped: 0, rejected: 0 })
  writeFileSync(stage.path, line(2, "/new", CARA))
  expect(await stage.rowsAfter(3)).toEqual({ read: 3, skipped: 0, rejected: 0 })
})

test("a followed log that is copied and emptied is read from its start", async () => {
  await using stage = await startFollowing()
  writeFileSync(stage.path, line(0, "/") + line(1, "/a"))
  await stage.rowsAfter(1)
  copyFileSync(stage.path, `${stage.path}.1`)
  truncateSync(stage.path)
  appendFileSync(stage.path, line(2, "/b", BEN))
  expect(await stage.rowsAfter(2)).toEqual({ read: 3, skipped: 0, rejected: 0 })
})

test("a log that is followed again adds only its new lines", async () => {
  await using stage = await startFollowing()
  writeFileSync(stage.path, line(0, "/"))
  await stage.rowsAfter(1)
  stage.interrupt()
  await stage.following
  appendFileSync(stage.path, line(3, "/c", BEN))
  const again = new AbortController()
  const { host } = stage.area
  const completed = async () => {
    const row = await streamByName(host.db, 1, "web")
    if (row?.run === 2) again.abort()
    return row && { importId: row.import_id, run: row.run }
  }
  const input = { source: "server_log", options: { stream: "web" }, label: undefined, previewHash: undefined, force: false }
  const ended = () => stage.instance.runJobs()
  await followLogs(stage.author, input, [stage.path], { imports: stage.area.imports, ended, completed, signal: again.signal })
  expect(await stage.rowsAfter(1)).toEqual({ read: 3, skipped: 1, rejected: 0 })
})

test("columns that the beginning of a log names hold for the lines that are appended", async () => {
  await using stage = await startFollowing()
  const fields = "#Version: 1.0\n#Fields: date time cs-method cs-uri-stem cs-uri-query c-ip cs(User-Agent) sc-status\n"
  const row = (time: string, path: string) => `2026-11-21 ${time} GET ${path} - 203.0.113.7 Mozilla/5.0+(X11)+Firefox/140.0 200\n`
  writeFileSync(stage.path, fields + row("08:00:00", "/"))
  await stage.rowsAfter(1)
  appendFileSync(stage.path, row("08:01:00", "/a") + row("08:02:00", "/b"))
  expect(await stage.rowsAfter(2)).toEqual({ read: 3, skipped: 0, rejected: 0 })
})

test("broken lines are rejected, and end the following only if the log was never readable", async () => {
  await using stage = await startFollowing()
  writeFileSync(stage.path, line(0, "/"))
  await stage.rowsAfter(1)
  appendFileSync(stage.path, "\\x16\\x03 is no request\n")
  expect(await stage.rowsAfter(2)).toEqual({ read: 2, skipped: 0, rejected: 1 })

  await using unreadable = await startFollowing()
  writeFileSync(unreadable.path, "no log\nat all\n")
  expect(await unreadable.following.catch((error) => error)).toMatchObject({ code: "unrecognized_source" })
})

test("an undo ends the following, because the import would lack the lines that were undone", async () => {
  await using stage = await startFollowing()
  writeFileSync(stage.path, line(0, "/"))
  await stage.rowsAfter(1)
  await stage.area.imports.undo(stage.author, "1")
  await stage.instance.runJobs()
  appendFileSync(stage.path, line(1, "/a"))
  expect(await stage.following.catch((error) => error)).toMatchObject({ code: "invalid_state" })
})
