import { expect, test } from "bun:test"
import { anonymous, createLogLines } from "../../../src/services/runtime/log.ts"
import { fixedClock, memoryLog } from "../../kit.ts"

const lines = (level: "debug" | "info" = "debug") => {
  const clock = fixedClock("2026-11-21T12:00:00Z")
  const other = memoryLog()
  return { clock, other, kept: createLogLines(other, { now: clock.now, level }) }
}

test("keeps the last 10,000 lines, newest first, and passes each to the log", () => {
  const { other, kept } = lines()
  for (let i = 0; i < 10_003; i++) kept.log.info(`line ${i}`)
  const found = kept.list({}, 20_000)
  expect(found.length).toBe(10_000)
  expect([found[0]!.message, found.at(-1)!.message]).toEqual(["line 10002", "line 3"])
  expect(other.lines.length).toBe(10_003)
})

test("finds lines by level, time and text", () => {
  const { clock, kept } = lines("info")
  kept.log.debug("too small")
  kept.log.info("first", { site_id: 7 })
  clock.advance(1_000)
  kept.log.warn("second", { code: "STORAGE_LOW" })
  kept.log.error("third", { error: new Error("broken pipe") })
  const messages = (filters: Parameters<typeof kept.list>[0]) => kept.list(filters, 10).map(({ message }) => message)
  expect(messages({})).toEqual(["third", "second", "first"])
  expect(messages({ level: "warn" })).toEqual(["third", "second"])
  expect(messages({ since: clock.now() })).toEqual(["third", "second"])
  expect(messages({ q: "storage_low" })).toEqual(["second"])
  expect(messages({ q: "broken PIPE" })).toEqual(["third"])
  expect(kept.list({}, 1).length).toBe(1)
})

test.each([
  [{ password: "hunter2hunter2" }, "hunter2"],
  [{ smtp: { auth_token: "abc123" } }, "abc123"],
  [{ Cookie: "sid=verysecret" }, "verysecret"],
  [{ url: "https://joe:s3cr3t@mail.example/" }, "s3cr3t"],
  [{ note: "used ff_abcdefgh_0123456789abcdefghijABCDEFGHIJ0123456789abcdef" }, "0123456789abcdef"],
  [{ header: "Bearer eyJhbGciOi.payload.sig" }, "payload"],
  [{ path: "/reset?token=deadbeef&x=1" }, "deadbeef"],
  [{ error: new Error("GET /x?code=oauthcode failed") }, "oauthcode"],
])("keeps no secret: %o", (fields, secret) => {
  const { kept } = lines()
  kept.log.error("said", fields)
  expect(JSON.stringify(kept.list({}, 1))).toContain("(redacted)")
  expect(JSON.stringify(kept.list({}, 1))).not.toContain(secret)
})

test("removes names of persons and machines from text for the support bundle", () => {
  const idOf = (email: string) => (email === "ann@example.com" ? 3 : undefined)
  const text = "ann@example.com and bob@example.org from 198.51.100.7, ::1, 2001:db8::7/48 and fe80:1:2:3:4:5:6:7 at 12:30:45"
  expect(anonymous(text, idOf)).toBe("user 3 and (email) from (address), (address), (address) and (address) at 12:30:45")
})
