import { expect, test } from "bun:test"
import { linkStand, PATH } from "./kit.ts"

const destination = "https://example.com/"

test("lists are filtered, sorted and paged, with what each link had in 30 days", async () => {
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
