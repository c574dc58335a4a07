import { expect, test } from "bun:test"
import { join } from "node:path"
import { openEventReader } from "../../src/store/events/reader.ts"
import { temporaryFolder } from "../kit.ts"

const SEED = join(import.meta.dir, "../../scripts/seed.ts")

test("the same options generate the same events, another seed others, and a folder with sites is left unchanged", () => {
  using first = temporaryFolder()
  using second = temporaryFolder()
  using other = temporaryFolder()
  expect([seed(first.path, "7"), seed(second.path, "7"), seed(other.path, "8")]).toMatchObject([
    { status: 0, made: { events: 300 } },
    { status: 0, made: { events: 300 } },
    { status: 0, made: { events: 300 } },
  ])
  expect(eventsIn(first.path).length).toBeGreaterThan(250) // some are dropped like real events
  expect(eventsIn(second.path)).toEqual(eventsIn(first.path))
  expect(eventsIn(other.path)).not.toEqual(eventsIn(first.path))
  const again = seed(first.path, "7")
  expect(again.status).toBe(1)
  expect(again.errors).toContain("already contains sites. Choose a new folder with --data-dir.")
}, 60_000)

function seed(dataDir: string, number: string): { status: number; made: { events?: number }; errors: string } {
  const shape = ["--days", "1", "--events", "300", "--sites", "2", "--seed", number, "--end", "2026-11-21T12:00:00Z"]
  const run = Bun.spawnSync([process.execPath, SEED, ...shape, "--data-dir", dataDir])
  const output = run.stdout.toString()
  return { status: run.exitCode, made: output === "" ? {} : JSON.parse(output), errors: run.stderr.toString() }
}

/** Returns times and pages of both sites' events in order. */
function eventsIn(dataDir: string): string[] {
  const reader = openEventReader(join(dataDir, "events.db"), { cacheBytes: 8 << 20 })
  const events = [1, 2].flatMap((siteId) => {
    const snapshot = reader.snapshot(siteId)
    const pages = snapshot.dictionary("page")
    return snapshot.parts.flatMap((part) => {
      const [starts, visits, offsets, page] = [part.starts(), part.event("visit"), part.event("offset"), part.event("page")]
      return [...offsets].map((offset, row) => `${siteId} ${starts[visits[row]!]! + offset} ${pages.text(page[row]!)}`)
    })
  })
  reader.close()
  return events.sort()
}
