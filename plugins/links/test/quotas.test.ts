import { expect, test } from "bun:test"
import { sql } from "#plugin"
import { linkStand, PATH } from "./kit.ts"

const destination = "https://example.com/"
const SITE = "/api/private/sites/1"

/** Returns a query for the numbers from 1 to a maximum, as rows. */
const numbers = (most: number) => sql`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${most})`

test("limits a site to 10,000 links, and deleted links do not count", async () => {
  await using stand = await linkStand()
  const { catalog } = stand.instance.app.instance
  // Inserted before the cache reads them.
  await catalog.run(sql`${numbers(9_998)}
    insert into links_links (site_id, slug, slug_key, destination, title, notes, tags_json, redirect_status, forward_query, forward_path,
      utm_json, utm_mode, rules_json, noindex, created_at, updated_at)
    select 1, 's-' || n, 's-' || n, ${destination}, '', '', '[]', 302, 1, 0, '{}', 'fill', '[]', 1, 0, 0 from numbers`)
  const full = { code: "limit_reached", limit: 10_000, resource: "links" }
  const gone = await stand.make({ destination })
  const last = await stand.make({ destination, slug: "last" })
  expect(await stand.ask("POST", PATH, { destination })).toMatchObject({ status: 422, body: full })
  const many = await stand.ask("POST", `${PATH}/bulk`, { op: "create", rows: [{ destination }] })
  expect(many.body.results).toMatchObject([{ index: 0, status: "failed", error: { code: "limit_reached" } }])
  const csv = `slug,destination,title,tags\nimported,${destination},,\n`
  expect((await stand.ask("POST", `${PATH}/import`, { csv, apply: true })).body.rows).toMatchObject([{ error: { code: "limit_reached" } }])
  await stand.ask("DELETE", `${PATH}/${gone.id}`)
  const taken = await stand.ask("POST", PATH, { destination })
  expect(taken.status).toBe(201)
  expect(await stand.ask("POST", `${PATH}/${gone.id}/restore`)).toMatchObject({ status: 422, body: full })
  expect((await stand.ask("PATCH", `${PATH}/${last.id}`, { title: "Still mine to change" })).status).toBe(200)
  expect((await stand.visit("/l/s-9998")).headers.get("location")).toBe(destination)
  expect((await stand.ask("GET", `${PATH}?limit=1&count=true`)).body).toMatchObject({ total: 10_000, data: [{ id: taken.body.id }] })
})

test.each([
  ["link-domains", 20, "link_domains", (n: number) => ({ host: `go-${n}.example` })],
  ["utm-templates", 200, "utm_templates", (n: number) => ({ name: `Template ${n}` })],
])("limits the %s of an organization to %i", async (word, most, resource, body) => {
  await using stand = await linkStand()
  const { organizations, sites } = stand.instance.app.instance
  const path = `${SITE}/${word}`
  const made = []
  for (let n = 1; n <= most; n++) made.push((await stand.ask("POST", path, body(n))).body.id)
  expect(made.every((id) => id > 0)).toBe(true)
  const full = { status: 422, body: { code: "limit_reached", limit: most, resource } }
  expect(await stand.ask("POST", path, body(most + 1))).toMatchObject(full)
  // The limit applies across the organization's sites and does not affect other organizations.
  const second = await sites.create(1, { name: "Second", hosts: ["second.example"] })
  expect(await stand.ask("POST", `/api/private/sites/${second.id}/${word}`, body(most + 1))).toMatchObject(full)
  const other = await organizations.create({ name: "Other" })
  const theirs = await sites.create(other.id, { name: "Other", hosts: ["other.example"] })
  const otherOwner = { cookie: await stand.instance.signIn({ role: "owner", organizationId: other.id }) }
  expect((await stand.ask("POST", `/api/private/sites/${theirs.id}/${word}`, body(most + 2), otherOwner)).status).toBe(201)
  expect((await stand.ask("DELETE", `${path}/${made[0]}`)).status).toBe(204)
  expect((await stand.ask("POST", path, body(most + 1))).status).toBe(201)
})
