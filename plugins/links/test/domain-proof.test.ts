import { expect, test } from "bun:test"
import { sql } from "#plugin"
import { nameServer } from "#plugin/test"
import { type LinkStand, linkStand, PATH } from "./kit.ts"

const destination = "https://example.com/landing"
const DOMAINS = "/api/private/sites/1/link-domains"
const FILE = "/.well-known/footfall-verify"
const notProved = { status: 409, body: { code: "domain_not_verified" } }

/** Returns the redirect of the domain for a visitor, or null without one. */
const leadsTo = async (stand: LinkStand, host: string, path: string) => (await stand.visit(path, { host })).headers.get("location")

/** Returns the audited actions on domains. */
async function actions(stand: LinkStand): Promise<string[]> {
  const { body } = await stand.ask("GET", "/api/private/organizations/1/audit")
  return body.data.map(({ action }: { action: string }) => action).filter((action: string) => action.includes("link-domain"))
}

test("verifies a domain by its TXT record and serves it from the next request on", async () => {
  const records: Record<string, string[][]> = {}
  using names = await nameServer(records)
  await using stand = await linkStand({ nameServers: [names.address] })
  const host = "go.shop.example"
  const domain = (await stand.ask("POST", DOMAINS, { host })).body
  const verify = () => stand.ask("POST", `${DOMAINS}/${domain.id}/verify`)
  expect(await verify()).toMatchObject(notProved)
  records[host] = [["v=spf1 -all"], [`${domain.txt_record}0`], [domain.txt_record.slice("footfall-verify=".length)]]
  records[`www.${host}`] = [[domain.txt_record]]
  expect(await verify()).toMatchObject(notProved)
  expect(await stand.ask("POST", PATH, { destination, domain_id: domain.id })).toMatchObject(notProved)
  expect(await leadsTo(stand, host, "/spring")).toBeNull()

  records[host].push([domain.txt_record])
  expect(await verify()).toMatchObject({ status: 200, body: { host, verified_at: "2026-11-21T12:00:00Z", version: 2 } })
  await stand.make({ destination, slug: "Spring", domain_id: domain.id })
  expect(await leadsTo(stand, host, "/spring")).toBe(destination)
  expect((await stand.visit("/unknown", { host })).status).toBe(404)
  // A verified domain stays verified, regardless of later DNS answers.
  delete records[host]
  expect(await verify()).toMatchObject({ status: 200, body: { version: 2 } })
  expect(await actions(stand)).toEqual(["links.link-domain.verify", "links.link-domain.create"])
})

/** A loopback address, because the request goes to port 80 like one to the domain itself. */
const HOST = `127.${[0, 1, 2].map(() => 1 + Math.floor(Math.random() * 250)).join(".")}`

function hostServer(answer: (path: string) => Response) {
  const requests: string[] = []
  const server = Bun.serve({
    port: 80,
    hostname: HOST,
    fetch({ url, headers }) {
      const { pathname } = new URL(url)
      requests.push(`${headers.get("host")}${pathname}`)
      return answer(pathname)
    },
  })
  return { requests, [Symbol.dispose]: () => void server.stop(true) }
}

const mayServe = (): boolean => {
  try {
    hostServer(() => new Response())[Symbol.dispose]()
    return true
  } catch {
    return false
  }
}
/** Creates a domain with that address as its host. The API accepts only names, so the row is changed directly. */
async function domainHere(stand: LinkStand) {
  const { id } = (await stand.ask("POST", DOMAINS, { host: "go.shop.example" })).body
  await stand.instance.app.instance.catalog.run(sql`update links_domains set host = ${HOST} where id = ${id}`)
  return (await stand.ask("PATCH", `${DOMAINS}/${id}`, { root_destination: "https://shop.example/" })).body
}

const OPENED = { allow_http_webhooks: "1", allow_private_webhooks: "127.0.0.0/8" }

test.skipIf(!mayServe())("verifies a domain by its own file, fetched through the guard without following redirects", async () => {
  let file = (): Response => new Response("nothing", { status: 404 })
  using site = hostServer((path) => (path === FILE ? file() : path === "/elsewhere" ? new Response(domain.file.content) : new Response("")))
  using names = await nameServer({})
  await using stand = await linkStand({ settings: OPENED, nameServers: [names.address] })
  const domain = await domainHere(stand)
  expect(domain.file).toEqual({ path: FILE, content: domain.txt_record })
  const verify = () => stand.ask("POST", `${DOMAINS}/${domain.id}/verify`)
  for (const answer of [
    file,
    () => new Response(`${domain.file.content}0`),
    () => new Response(domain.file.content, { status: 404 }),
    () => Response.redirect("/elsewhere"),
  ]) {
    file = answer
    expect(await verify()).toMatchObject(notProved)
  }
  expect(await leadsTo(stand, HOST, "/spring")).toBeNull()
  file = () => new Response(`${domain.file.content}\r\n`)
  expect(await verify()).toMatchObject({ status: 200, body: { host: HOST, verified_at: "2026-11-21T12:00:00Z" } })
  expect(site.requests).toEqual(Array(5).fill(`${HOST}${FILE}`))
  await stand.make({ destination, slug: "spring", domain_id: domain.id })
  expect(await leadsTo(stand, HOST, "/spring")).toBe(destination)
  expect(await leadsTo(stand, HOST, "/")).toBe("https://shop.example/")
})

test.skipIf(!mayServe())("does not verify an internal address that the operator has not allowed", async () => {
  using site = hostServer(() => new Response("inside"))
  using names = await nameServer({})
  await using stand = await linkStand({ settings: { allow_http_webhooks: "1" }, nameServers: [names.address] })
  const domain = await domainHere(stand)
  expect(await stand.ask("POST", `${DOMAINS}/${domain.id}/verify`)).toMatchObject(notProved)
  expect(site.requests).toEqual([])
})
