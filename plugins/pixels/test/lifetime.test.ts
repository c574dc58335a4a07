import { describe, expect, test } from "bun:test"
import { sql } from "#plugin"
import { openStage, PIXELS } from "./stage.ts"

describe("lifetime counters", () => {
  test("count each open once, however often they are counted, sealed and interrupted", async () => {
    await using stage = await openStage()
    const { id, slug } = await stage.make()
    const { events, jobs } = stage.app.instance
    for (let round = 1; round <= 4; round++) {
      for (let n = 0; n < 3; n++) await stage.ask(`/p/${slug}.gif`, { address: `198.51.100.${n + 1}` })
      await stage.app.collector.recorded()
      // Two concurrent runs, as a shutdown and a job can cause.
      await Promise.all([stage.app.plugins.stop(), stage.app.plugins.stop()])
      await stage.folded()
      await jobs.enqueue({ kind: "pixels.fold-opens" })
      await stage.folded()
      expect((await stage.get(`/${id}`)).body).toMatchObject({ opens_total: 3 * round, opens_direct: 3 * round })
      stage.clock.advance(3_600_000)
      await events.seal(stage.clock.now(), true)
      await events.merge(stage.clock.now())
    }
  })

  test("lose no open when a run fails halfway", async () => {
    await using stage = await openStage()
    const { id, slug } = await stage.make()
    const { catalog, jobs } = stage.app.instance
    await stage.ask(`/p/${slug}.gif`)
    await catalog.run(sql`create trigger no_fold before insert on pixels_positions begin select raise(abort, 'no'); end`)
    await stage.folded()
    expect((await stage.get(`/${id}`)).body).toMatchObject({ opens_total: 0 })
    await catalog.run(sql`drop trigger no_fold`)
    await stage.ask(`/p/${slug}.gif`)
    await jobs.enqueue({ kind: "pixels.fold-opens" })
    await stage.folded()
    expect((await stage.get(`/${id}`)).body).toMatchObject({ opens_total: 2, last_open_at: expect.any(String) })
  })

  test("follow within half a minute and stay when retention removes the opens", async () => {
    await using stage = await openStage()
    const { id, slug } = await stage.make()
    await stage.ask(`/p/${slug}.gif`)
    await stage.folded()
    expect((await stage.get(`/${id}`)).body).toMatchObject({ opens_total: 1, last_open_at: "2026-11-21T12:00:00Z" })
    await stage.app.instance.events.retain(1, stage.clock.now() + 1, stage.clock.now())
    expect((await stage.get(`/${id}/stats`)).body).toMatchObject({ opens_total: 0 })
    await stage.ask(`/p/${slug}.gif`)
    await stage.folded()
    expect((await stage.get(`/${id}`)).body).toMatchObject({ opens_total: 2 })
  })

  test("do not change versions, and continue for a restored pixel", async () => {
    await using stage = await openStage()
    const { id, slug, version } = await stage.make()
    await stage.ask(`/p/${slug}.gif`)
    await stage.app.collector.recorded()
    await stage.send("DELETE", `/${id}`)
    await stage.folded()
    await stage.send("POST", `/${id}/restore`)
    await stage.ask(`/p/${slug}.gif`)
    await stage.folded()
    expect((await stage.get(`/${id}`)).body).toMatchObject({ opens_total: 2, version: version + 2 })
  })
})

test("counts requests for unknown pixels per day and nowhere else", async () => {
  await using stage = await openStage()
  const { id } = await stage.make({ slug: "gone" })
  await stage.send("DELETE", `/${id}`)
  for (const path of ["/p/nobody.gif", "/p/gone.gif", "/p/other/badge.svg"]) await stage.ask(path)
  await stage.folded()
  const { catalog } = stage.app.instance
  expect(await catalog.all(sql`select day, count from pixels_orphans`)).toEqual([{ day: "2026-11-21", count: 3 }])
  await stage.ask("/p/nobody.gif")
  await stage.folded()
  expect(await catalog.all(sql`select day, count from pixels_orphans`)).toEqual([{ day: "2026-11-21", count: 4 }])
  expect((await stage.api.get(PIXELS, undefined, stage.as)).body).toMatchObject({ data: [] })
})

test("counts opens that were not on disk yet in the next run", async () => {
  await using stage = await openStage()
  const { id, slug } = await stage.make()
  // Plans the count, which finds no opens of the site yet.
  await stage.ask("/p/unknown.gif")
  stage.clock.advance(14_900)
  const late = Array.from({ length: 20 }, () => stage.ask(`/p/${slug}.gif`))
  stage.clock.advance(6_000)
  await stage.runJobs()
  await Promise.all(late)
  await stage.folded()
  expect((await stage.get(`/${id}`)).body).toMatchObject({ opens_total: 20 })
})
