import { expect, test } from "bun:test"
import { linkStand, PATH } from "./kit.ts"

/** Serves a page on loopback and counts its requests. */
function pageServer(answer: (path: string) => Response) {
  const requests: string[] = []
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch({ url }) {
      const { pathname } = new URL(url)
      requests.push(pathname)
      return answer(pathname)
    },
  })
  return { requests, port: server.port!, url: `http://127.0.0.1:${server.port}`, [Symbol.dispose]: () => void server.stop(true) }
}

const html = (text: string) => new Response(text, { headers: { "content-type": "text/html; charset=utf-8" } })
const opened = (port: number) => ({
  link_fetch_titles: "1",
  allow_http_webhooks: "1",
  allow_private_webhooks: "127.0.0.0/8",
  outbound_ports: String(port),
})

test.each<[string, () => Response, string]>([
  ["its text on one line", () => html("<head><TITLE lang=en>\n Spring &amp; summer&#x3a;\t20&nbsp;% </TITLE>"), "Spring & summer: 20 %"],
  ["at most 200 characters", () => html(`<title>${"x".repeat(300)}</title>`), "x".repeat(200)],
  ["nothing without one", () => html("<h1>Spring</h1>"), ""],
  [
    "nothing from a document that is not HTML",
    () => new Response("<title>Spring</title>", { headers: { "content-type": "text/plain" } }),
    "",
  ],
  ["nothing from a missing page", () => new Response("<title>Not found</title>", { status: 404 }), ""],
])("takes from the title of a destination: %s", async (_, answer, title) => {
  using server = pageServer(answer)
  await using stand = await linkStand({ settings: opened(server.port) })
  const { id, version } = await stand.make({ destination: `${server.url}/page` })
  await stand.instance.runJobs()
  expect(server.requests).toEqual(["/page"])
  const { body } = await stand.ask("GET", `${PATH}/${id}`)
  expect(body).toMatchObject({ title, version: title === "" ? version : version + 1 })
})

test("fills only an empty title, even if a user sets one meanwhile, and records the system as the author", async () => {
  using server = pageServer(() => html("<title>Of the page</title>"))
  await using stand = await linkStand({ settings: opened(server.port) })
  const destination = `${server.url}/page`
  const named = await stand.make({ destination, title: "Mine" })
  const later = await stand.make({ destination })
  await stand.ask("PATCH", `${PATH}/${later.id}`, { title: "Written since" })
  const deleted = await stand.make({ destination })
  await stand.ask("DELETE", `${PATH}/${deleted.id}`)
  await stand.instance.runJobs()
  expect(server.requests).toEqual([])
  const empty = await stand.make({ destination })
  await stand.instance.runJobs()
  expect(server.requests).toEqual(["/page"])
  const titles = []
  for (const { id } of [named, later, empty]) titles.push((await stand.ask("GET", `${PATH}/${id}`)).body.title)
  expect(titles).toEqual(["Mine", "Written since", "Of the page"])
  const { body } = await stand.ask("GET", "/api/private/organizations/1/audit?limit=1")
  expect(body.data).toMatchObject([
    { action: "links.link.update", actor_kind: "system", target_id: String(empty.id), changes: { title: ["", "Of the page"] } },
  ])
})

test("fetches no titles by default, and never from internal addresses", async () => {
  using server = pageServer(() => html("<title>Inside</title>"))
  const { link_fetch_titles, allow_private_webhooks, ...rest } = opened(server.port)
  for (const settings of [
    { ...rest, allow_private_webhooks },
    { ...rest, link_fetch_titles },
  ]) {
    await using stand = await linkStand({ settings })
    const { id } = await stand.make({ destination: `${server.url}/page` })
    await stand.instance.runJobs()
    expect((await stand.ask("GET", `${PATH}/${id}`)).body.title).toBe("")
  }
  expect(server.requests).toEqual([])
})
