import { expect, test } from "bun:test"
import { join } from "node:path"
import { openEventStore } from "../../../src/store/events/events.ts"
import type { OpenVisit, Writer } from "../../../src/store/events/writer.ts"
import { temporaryFolder } from "../../kit.ts"
import { event, NO_TRAITS } from "./samples.ts"

const NOON = Date.parse("2026-11-21T12:00:00Z")
const MINUTE = 60_000
const DAY = "2026-11-21"

function startStore() {
  const folder = temporaryFolder()
  const store = openEventStore(join(folder.path, "events.db"), { now: NOON })
  return {
    store,
    [Symbol.dispose]() {
      store.close()
      folder[Symbol.dispose]()
    },
  }
}

const rotatingIn = (writer: Writer) => writer.visitor(1, DAY, { high: 1, low: 1 })

/** Writes a visit under the same rotating id, of the user if one is given. */
function visit(writer: Writer, at: number, user?: number): number {
  const rotating = rotatingIn(writer)
  const visitor = user === undefined ? rotating : writer.person(1, { high: 7, low: user }, "user")
  const visitorKind = user === undefined ? "rotating" : "user"
  const id = writer.openVisit(1, { rotating, visitor, visitorKind, traits: NO_TRAITS }, DAY)
  writer.add(1, id, event({ at }), DAY)
  return id
}

const userIn = (writer: Writer, user: number) => writer.findPerson(1, { high: 7, low: user })?.ordinal

test("finds a user's visit without scanning those of other users", () => {
  using running = startStore()
  const ids = running.store.write(NOON, (writer) => Array.from({ length: 500 }, (_, user) => visit(writer, NOON, user)))
  running.store.write(NOON, (writer) => {
    const looked: number[] = []
    const fits = ({ id }: OpenVisit) => looked.push(id) > 0
    expect(writer.findOpenVisit(1, rotatingIn(writer), userIn(writer, 42), fits)?.id).toBe(ids[42]!)
    expect(looked).toEqual([ids[42]!])
    expect(writer.findOpenVisit(1, rotatingIn(writer), -1, fits)).toBeUndefined()
    expect(looked).toEqual([ids[42]!])
  })
})

test("assigns a visit to a user and hides it from other users", () => {
  using running = startStore()
  running.store.write(NOON, (writer) => {
    const id = visit(writer, NOON)
    const found = (user: number | undefined) => writer.findOpenVisit(1, rotatingIn(writer), user, () => true)?.id
    expect([found(undefined), found(-1)]).toEqual([id, id])
    writer.identify(1, id, writer.person(1, { high: 7, low: 1 }, "user"), "user")
    expect([found(undefined), found(userIn(writer, 1)), found(-1)]).toEqual([id, id, undefined])
  })
})

test("finds the most recently active of several visits, and the first of equal ones", () => {
  using running = startStore()
  running.store.write(NOON, (writer) => {
    const ids = [NOON - MINUTE, NOON, NOON, NOON - 2 * MINUTE].map((at) => visit(writer, at))
    expect(writer.findOpenVisit(1, rotatingIn(writer), undefined, () => true)?.id).toBe(ids[1]!)
    expect(writer.findOpenVisit(1, rotatingIn(writer), undefined, ({ id }) => id !== ids[1])?.id).toBe(ids[2]!)
  })
})

test.each([
  ["30 minutes later", 30 * MINUTE, true],
  ["more than 30 minutes later", 30 * MINUTE + 1, false],
  ["after the clock was set back 30 minutes", -30 * MINUTE, true],
  ["after the clock was set back a day", -24 * 60 * MINUTE, false],
])("%s, a visit is open: %p", (_name, later, isOpen) => {
  using running = startStore()
  running.store.write(NOON, (writer) => visit(writer, NOON))
  const found = running.store.write(NOON + later, (writer) => writer.findOpenVisit(1, rotatingIn(writer), undefined, () => true))
  expect(found !== undefined).toBe(isOpen)
})

test("finds visits after others were sealed", async () => {
  using running = startStore()
  running.store.write(NOON, (writer) => visit(writer, NOON, 1))
  const id = running.store.write(NOON + 40 * MINUTE, (writer) => visit(writer, NOON + 40 * MINUTE, 2))
  await running.store.seal(NOON + 40 * MINUTE, true)
  running.store.write(NOON + 41 * MINUTE, (writer) => {
    const found = (user: number | undefined) => writer.findOpenVisit(1, rotatingIn(writer), user, () => true)?.id
    expect([found(undefined), found(userIn(writer, 2)), found(userIn(writer, 1))]).toEqual([id, id, undefined])
  })
})
