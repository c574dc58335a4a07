import { expect, test } from "bun:test"
import type { LogLevel } from "../../../src/domain/log.ts"
import { jsonLog } from "../../../src/services/runtime/log.ts"

function linesOf(level: LogLevel) {
  const lines: string[] = []
  const log = jsonLog({ level, now: () => Date.parse("2026-11-21T12:00:00Z"), write: (line) => lines.push(line) })
  return { log, lines }
}

test("writes a message as one line of JSON with its fields", () => {
  const { log, lines } = linesOf("info")
  log.info("listening", { address: "http://localhost:8080" })
  expect(lines).toEqual(['{"time":"2026-11-21T12:00:00.000Z","level":"info","msg":"listening","address":"http://localhost:8080"}\n'])
})

test("omits messages below the log level", () => {
  const { log, lines } = linesOf("warn")
  log.debug("a")
  log.info("b")
  log.warn("c")
  log.error("d")
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual(["c", "d"])
})

test("logs an error with its causes, on a single line", () => {
  const { log, lines } = linesOf("info")
  const cause = Object.assign(new Error("disk\nfull"), { code: "ENOSPC" })
  log.error("commit failed", { error: new TypeError("no\r\nwrite", { cause }) })
  expect(lines).toHaveLength(1)
  expect(lines[0]!.match(/\n/g)).toHaveLength(1)
  expect(JSON.parse(lines[0]!).error).toEqual({
    name: "TypeError",
    message: "no\r\nwrite",
    stack: expect.any(String),
    cause: { name: "Error", message: "disk\nfull", code: "ENOSPC", stack: expect.any(String) },
  })
})
