import { expect, test } from "bun:test"
import { join } from "node:path"
import { openDatabase } from "../../../src/store/events/database.ts"
import { Uses } from "../../../src/store/events/dictionary/uses.ts"
import { Visitors } from "../../../src/store/events/dictionary/visitors.ts"
import { temporaryFolder } from "../../kit.ts"

const DAY = "2026-11-21"
const RECORD = 1

function openVisitors() {
  const folder = temporaryFolder()
  const db = openDatabase(join(folder.path, "events.db"), { now: 0, version: "" })
  return {
    db,
    visitors: new Visitors(db, new Uses()),
    [Symbol.dispose]() {
      db.close()
      folder[Symbol.dispose]()
    },
  }
}

test("a step writes the ids of several sites, up to its number", () => {
  using it = openVisitors()
  for (const siteId of [1, 2, 3]) it.visitors.create(siteId, DAY, { high: 1, low: siteId }, RECORD)
  it.visitors.gather()
  const step = () => [it.visitors.flush(2), it.db.query("select site_id from visitor_ids order by site_id").values().flat()]
  expect([step(), step(), step()]).toEqual([
    [true, [1, 2]],
    [true, [1, 2, 3]],
    [false, [1, 2, 3]],
  ])
})

test("saves the next ordinals of the sites where they have changed, up to a number", () => {
  using it = openVisitors()
  const save = (count?: number) => {
    it.visitors.saveOrdinals(count)
    const saved = it.db.query<{ at: string }, []>("select site_id || ': ' || next as at from ordinals order by site_id").all()
    return [it.visitors.unsavedOrdinals, ...saved.map(({ at }) => at)]
  }
  for (const siteId of [1, 2]) it.visitors.create(siteId, DAY, { high: 1, low: siteId }, RECORD)
  expect(save(1)).toEqual([1, "1: 1"])
  expect(save(1)).toEqual([0, "1: 1", "2: 1"])
  it.visitors.create(1, DAY, { high: 2, low: 1 }, RECORD)
  expect(save()).toEqual([0, "1: 2", "2: 1"])
})
