import { expect, test } from "bun:test"
import type { OwnTables } from "#plugin"
import { createOrphans } from "../serving/orphans.ts"
import { linkStand, PATH } from "./kit.ts"

test("purges a link after 30 days with an audit entry", async () => {
  await using stand = await linkStand()
  const { id } = await stand.make({ destination: "https://example.com/" })
  const kept = await stand.make({ destination: "https://example.com/kept" })
  expect((await stand.ask("DELETE", `${PATH}/${id}`)).status).toBe(204)
  stand.instance.clock.advance(31 * 86_400_000)
  await stand.instance.app.instance.jobs.enqueue({ kind: "links.purge-links" })
  await stand.instance.runJobs()
  const owner = { cookie: await stand.instance.signIn({ role: "owner" }) }
  const get = (path: string) => stand.instance.api.get(path, undefined, owner)
  expect((await get(`${PATH}/${kept.id}`)).status).toBe(200)
  const { data } = (await get("/api/private/organizations/1/audit?limit=5")).body as { data: object[] }
  expect(data).toContainEqual(expect.objectContaining({ action: "links.link.purge", target_id: String(id), site_id: 1 }))
})

test("counts requests without a link after the store accepts writes again", async () => {
  await using stand = await linkStand()
  const { catalog } = stand.instance.app.instance
  let isFull = true
  // The real tables, with a store that temporarily rejects writes.
  const db = {
    transaction: async (work: (statements: unknown) => Promise<unknown>) => {
      if (isFull) throw new Error("The disk is full")
      return catalog.transaction((statements) => work(statements))
    },
    all: catalog.all,
  } as unknown as OwnTables
  const orphans = createOrphans(db, stand.instance.clock.now)
  orphans.note("unknown_slug", null, "/nowhere")
  await expect(orphans.flush()).rejects.toThrow("The disk is full")
  orphans.note("unknown_slug", null, "/nowhere")
  isFull = false
  await orphans.flush()
  await orphans.flush()
  expect(await orphans.totals("2026-01-01")).toMatchObject([{ kind: "unknown_slug", count: 2 }])
})
