import { expect, test } from "bun:test"
import { sql } from "#plugin"
import { linkStand, PATH } from "./kit.ts"

test("resumes an interrupted count after the last counted link without counting a click twice", async () => {
  await using stand = await linkStand()
  const { catalog } = stand.instance.app.instance
  const written = await stand.make({ destination: "https://example.com/written" })
  const unwritten = await stand.make({ destination: "https://example.com/unwritten" })
  const click = async ({ slug }: { slug: string }, times: number) => {
    for (let time = 0; time < times; time++) await stand.visit(`/l/${slug}`)
    await stand.recorded()
  }
  const fold = async () => {
    stand.instance.clock.advance(60_000)
    await stand.instance.runJobs()
  }
  const counts = async () =>
    Promise.all([written, unwritten].map(async ({ id }) => (await stand.ask("GET", `${PATH}/${id}`)).body.clicks.human))

  await click(written, 1)
  await click(unwritten, 1)
  await fold()
  expect(await counts()).toEqual([1, 1])
  const [position] = await catalog.all<{ sequence: number }>(sql`select sequence from links_positions where site_id = 1`)

  await click(written, 2)
  await click(unwritten, 3)
  await fold()
  expect(await counts()).toEqual([3, 4])

  // The state on disk if the process ends after the first group of links.
  await catalog.run(sql`update links_positions set target = sequence, sequence = ${position!.sequence}, done_id = ${written.id}`)
  await catalog.run(sql`update links_links set clicks_human = 1 where id = ${unwritten.id}`)
  await click(written, 4)
  await fold()
  expect(await counts()).toEqual([7, 4])
  await click(unwritten, 1)
  await fold()
  expect(await counts()).toEqual([7, 5])
})

test("counts clicks that were not on disk yet in the next run, without another click", async () => {
  await using stand = await linkStand()
  const { slug, id } = await stand.make({ destination: "https://example.com/" })
  await stand.visit(`/l/${slug}`)
  await stand.recorded()
  stand.instance.clock.advance(14_900)
  const late = Array.from({ length: 20 }, () => stand.visit(`/l/${slug}`))
  stand.instance.clock.advance(200)
  await stand.instance.runJobs()
  await Promise.all(late)
  await stand.recorded()
  stand.instance.clock.advance(15_000)
  await stand.instance.runJobs()
  expect((await stand.ask("GET", `${PATH}/${id}`)).body.clicks).toMatchObject({ total: 21, human: 21 })
})
