import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { join } from "node:path"
import { copyEventFile } from "../../../src/store/events/copy.ts"
import { type EventStore, openEventStore } from "../../../src/store/events/events.ts"
import type { Part } from "../../../src/store/events/part.ts"
import { openEventReader } from "../../../src/store/events/reader.ts"
import { temporaryFolder } from "../../kit.ts"
import { event, NO_TRAITS } from "./samples.ts"

const NOON = Date.parse("2026-11-21T12:00:00Z")
const LATER = NOON + 3_600_000
const DAY = "2026-11-21"
/** More texts than a slice of a sweep covers. */
const VISITS = 4_500

/** Writes visits with a title each; every other one belongs to a person. */
function writeVisits(store: EventStore): void {
  store.write(NOON, (writer) => {
    for (let number = 0; number < VISITS; number++) {
      const rotating = writer.visitor(1, DAY, { high: 1, low: number })
      const visitor = number % 2 === 0 ? writer.person(1, { high: 2, low: number }, "user") : rotating
      const visitorKind = number % 2 === 0 ? "user" : "rotating"
      const id = writer.openVisit(1, { rotating, visitor, visitorKind, traits: NO_TRAITS }, DAY)
      writer.add(1, id, event({ at: NOON + number, title: `Title ${number}` }), DAY)
    }
  })
}

/** Selects the later half of the visits. */
const chosen = (part: Part) => Uint8Array.from(part.starts(), (start) => (start >= NOON + VISITS / 2 ? 1 : 0))

interface Content {
  visits: number
  titles: number
  persons: number
}

function contentOf(path: string): Content {
  const reader = openEventReader(path, { cacheBytes: 1 << 20 })
  const { parts, dictionary } = reader.snapshot(1)
  const titles = dictionary("title")
  let texts = 0
  for (let id = 0; id < titles.size; id++) if (titles.text(id) !== "") texts++
  const visits = parts.reduce((sum, part) => sum + part.visits, 0)
  reader.close()
  const store = openEventStore(path, { now: LATER })
  const numbers = Array.from({ length: VISITS }, (_, number) => number)
  const persons = store.write(LATER, (writer) => numbers.filter((low) => writer.findPerson(1, { high: 2, low }) !== undefined).length)
  store.close()
  return { visits, titles: texts, persons }
}

function isBlanking(path: string): boolean {
  const db = new Database(path, { readonly: true })
  const isBegun = db.query("select 1 from dictionary where value = ''").get() !== null
  db.close()
  return isBegun
}

/** Returns copies of the files as a crash at this moment would leave them. */
function imagesOf(folder: string, path: string) {
  const images: string[] = []
  return {
    images,
    take() {
      const image = join(folder, `image-${images.length}.db`)
      copyEventFile(path, image)
      images.push(image)
    },
  }
}

test("continues an interrupted erasure after the next start", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "events.db")
  const store = openEventStore(path, { now: NOON })
  writeVisits(store)
  await store.seal(LATER, true)
  const { images, take } = imagesOf(folder.path, path)
  let isDone = false
  const erasing = store.erase(1, chosen, LATER).then(() => {
    isDone = true
  })
  // Copying takes some time, and the blanking comes last.
  for (let turn = 0; !isDone; turn++) {
    if (turn % 6 === 0 || isBlanking(path)) take()
    await Bun.sleep(0)
  }
  await erasing
  store.close()
  const before: Content = { visits: VISITS, titles: VISITS, persons: VISITS / 2 }
  const after: Content = { visits: VISITS / 2, titles: VISITS / 2, persons: VISITS / 4 }
  expect(contentOf(path)).toEqual(after)
  const kinds = new Set<string>()
  for (const image of images) {
    const found = contentOf(image)
    const again = openEventStore(image, { now: LATER })
    await again.seal(LATER)
    again.close()
    expect(contentOf(image)).toEqual(found.visits === VISITS ? before : after)
    kinds.add(
      found.visits === VISITS
        ? "not begun"
        : found.titles === VISITS
          ? "nothing blanked"
          : found.titles === after.titles
            ? "all blanked"
            : "half blanked",
    )
  }
  // Otherwise the test would prove nothing.
  expect([...kinds]).toContain("half blanked")
}, 60_000)
