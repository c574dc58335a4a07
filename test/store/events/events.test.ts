import { expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openEventStore } from "../../../src/store/events/events.ts"
import { openEventReader } from "../../../src/store/events/reader.ts"
import type { Writer } from "../../../src/store/events/writer.ts"
import { event, NO_TRAITS } from "./samples.ts"

const NOON = Date.parse("2026-11-21T12:00:00Z")
const MINUTE = 60_000

function folder() {
  const path = mkdtempSync(join(tmpdir(), "footfall-"))
  return { path: join(path, "events.db"), [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

/** Writes a visit with the given pages, a minute apart. */
function visit(writer: Writer, at: number, visitor: number, pages: string[]) {
  const ordinal = writer.visitor(1, "2026-11-21", { high: visitor, low: visitor })
  const id = writer.openVisit(
    1,
    { rotating: ordinal, visitor: ordinal, visitorKind: "rotating", traits: { ...NO_TRAITS, country: "DE" } },
    "2026-11-21",
  )
  for (const [index, page] of pages.entries()) writer.add(1, id, event({ at: at + index * MINUTE, page }), "2026-11-21")
  return id
}

test("shows written events in the next snapshot, after a restart and after sealing", async () => {
  using files = folder()
  let store = openEventStore(files.path, { now: NOON })
  const reader = openEventReader(files.path, { cacheBytes: 1 << 20 })
  store.write(NOON, (writer) => {
    visit(writer, NOON, 7, ["/", "/pricing"])
    visit(writer, NOON + 5 * MINUTE, 8, ["/"])
  })
  const shown = () => {
    const { parts, dictionary } = reader.snapshot(1)
    return parts.map((part) => ({
      starts: [...part.starts()],
      visitors: [...part.visit("visitor")],
      pageviews: [...part.visit("pageviews")],
      duration: [...part.visit("duration")],
      exit: [...part.visit("exit_page")].map((id) => dictionary("page").text(id)),
      country: [...part.visit("country")].map((id) => dictionary("country").text(id)),
      pages: [...part.event("page")].map((id) => dictionary("page").text(id)),
      offsets: [...part.event("offset")],
      visits: [...part.event("visit")],
    }))
  }
  const expected = [
    {
      starts: [NOON, NOON + 5 * MINUTE],
      visitors: [0, 1],
      pageviews: [2, 1],
      duration: [MINUTE, 0],
      exit: ["/pricing", "/"],
      country: ["DE", "DE"],
      pages: ["/", "/pricing", "/"],
      offsets: [0, MINUTE, 0],
      visits: [0, 0, 1],
    },
  ]
  expect(shown()).toEqual(expected)
  store.close()
  store = openEventStore(files.path, { now: NOON })
  expect(shown()).toEqual(expected)
  await store.seal(NOON + 31 * MINUTE, true)
  expect(shown()).toEqual(expected)
  store.close()
  store = openEventStore(files.path, { now: NOON })
  expect(shown()).toEqual(expected)
  store.write(NOON + 40 * MINUTE, (writer) => {
    expect(writer.findVisitor(1, "2026-11-21", { high: 8, low: 8 })).toBe(1)
    expect(writer.visitor(1, "2026-11-21", { high: 9, low: 9 })).toBe(2)
  })
  reader.close()
  store.close()
})
