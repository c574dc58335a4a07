import { expect, test } from "bun:test"
import { linkStand, PATH } from "./kit.ts"

const destination = "https://example.com/"

test("filters, sorts and pages the list, with the clicks of the last 30 days", async () => {
  await using fresh = await linkStand()
  const made = []
  for (const [title, tags] of [
    ["Alpha", ["x"]],
    ["Beta", ["x", "y"]],
    ["Gamma", []],
  ] as const)
    made.push(await fresh.make({ destination, title, tags }))
  const [alpha, beta, gamma] = made
  for (let click = 0; click < 3; click++) await fresh.visit(`/l/${alpha.slug}`)
  await fresh.visit(`/l/${beta.slug}`, { method: "HEAD" })
  await fresh.recorded()
  await fresh.instance.runJobs()
  fresh.instance.clock.advance(60_000)
  await fresh.instance.runJobs()
  const titles = async (query: string) =>
    (await fresh.ask("GET", `${PATH}?${query}`)).body.data.map(({ title }: { title: string }) => title)
  expect(await titles("")).toEqual(["Gamma", "Beta", "Alpha"])
  expect(await titles("sort=clicks")).toEqual(["Alpha", "Beta", "Gamma"])
  expect(await titles("tag=x")).toEqual(["Beta", "Alpha"])
  expect(await titles("q=ALPH")).toEqual(["Alpha"])
  await fresh.ask("PATCH", `${PATH}/${gamma.id}`, { archived: true })
  expect(await titles("state=archived")).toEqual(["Gamma"])
  expect(await titles("state=active")).toEqual(["Beta", "Alpha"])
  const first = (await fresh.ask("GET", `${PATH}?sort=clicks&limit=1&count=true`)).body
  expect(first).toMatchObject({
    has_more: true,
    total: 2,
    data: [{ title: "Alpha", clicks: { total: 3, human: 3, bot: 0 }, last_click_at: "2026-11-21T12:00:00Z" }],
  })
  expect(first.data[0].sparkline.human).toEqual([...Array(29).fill(0), 3])
  expect(await titles(`sort=clicks&limit=1&cursor=${first.next_cursor}`)).toEqual(["Beta"])
  expect(await fresh.ask("GET", `${PATH}?limit=1&cursor=${first.next_cursor}`)).toMatchObject({
    status: 400,
    body: { code: "invalid_cursor" },
  })
  expect(await fresh.ask("GET", `${PATH}?state=odd&limit=0`)).toMatchObject({ status: 400, body: { code: "invalid_query" } })
})

test("continues after a link that was deleted or archived since the last page", async () => {
  await using stand = await linkStand()
  const ids: number[] = []
  for (let n = 1; n <= 6; n++) ids.push((await stand.make({ destination, title: `Ä${n}` })).id)
  const [one, two, three, four, five, six] = ids
  const page = async (query: string) => {
    const { status, body } = await stand.ask("GET", `${PATH}?limit=2${query}`)
    return { status, ids: body.data?.map(({ id }: { id: number }) => id), cursor: `&cursor=${body.next_cursor}`, total: body.total }
  }
  const first = await page("&count=true")
  expect(first).toMatchObject({ ids: [six, five], total: 6 })
  await stand.ask("DELETE", `${PATH}/${five}`)
  const second = await page(first.cursor)
  expect(second).toMatchObject({ status: 200, ids: [four, three] })
  const filtered = await page(`&state=active&q=${encodeURIComponent("ä")}`)
  await stand.ask("PATCH", `${PATH}/${filtered.ids[1]}`, { archived: true })
  expect(await page(`&state=active&q=${encodeURIComponent("ä")}${filtered.cursor}`)).toMatchObject({ status: 200, ids: [three, two] })
  expect(await page(second.cursor)).toMatchObject({ ids: [two, one], cursor: "&cursor=null" })
})

test("accepts the cursor of a long search", async () => {
  await using stand = await linkStand()
  for (let n = 1; n <= 2; n++) await stand.make({ destination, notes: "", title: "😀".repeat(200) })
  const q = `q=${encodeURIComponent("😀".repeat(100))}`
  const { next_cursor } = (await stand.ask("GET", `${PATH}?limit=1&${q}`)).body
  expect((await stand.ask("GET", `${PATH}?limit=1&${q}&cursor=${next_cursor}`)).body).toMatchObject({ has_more: false, data: [{ id: 1 }] })
})
