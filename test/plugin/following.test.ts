import { expect, test } from "bun:test"
import links from "../../plugins/links/links.ts"
import { createCache as createLinkCache } from "../../plugins/links/serving/cache.ts"
import { createCache as createPixelCache } from "../../plugins/pixels/cache.ts"
import pixels from "../../plugins/pixels/pixels.ts"
import { ownTables } from "../../src/plugin/host/own-tables.ts"
import { pluginFacts } from "../../src/plugin/load.ts"
import type { Instance } from "../../src/services/instance/instance.ts"
import { type Sql, sql } from "../../src/store/sql.ts"
import { openNodes } from "../services/nodes-kit.ts"

/** Two nodes. The first writes; the second has all links, domains and pixels in memory. */
async function openPair() {
  const nodes = await openNodes({ plugins: pluginFacts([links, pixels]) })
  const [one, two] = [await nodes.node("one"), await nodes.node("two")]
  const caches = (node: Instance) => ({
    links: createLinkCache(ownTables(node, "links"), { prefix: "l", onReady: async () => {} }),
    pixels: createPixelCache(ownTables(node, "pixels")),
  })
  const known = caches(two)
  for (const { links, pixels } of [caches(one), known]) await Promise.all([links.begin(), pixels.begin()])
  await Promise.all([known.links.ready(), known.pixels.ready()])
  return {
    known,
    /** Runs a statement on the first node, and lets the second one poll. */
    async change(statement: Sql): Promise<void> {
      await one.catalog.run(statement)
      await two.changes!.poll()
    },
    [Symbol.asyncDispose]: () => nodes[Symbol.asyncDispose](),
  }
}

const insertLink = sql`insert into links_links (site_id, slug, slug_key, destination, title, notes, tags_json, redirect_status, forward_query,
    forward_path, utm_json, utm_mode, rules_json, noindex, created_at, updated_at)
  values (1, 'spring', 'spring', 'https://shop.example/a', '', '', '[]', 302, 0, 0, '{}', 'keep', '[]', 0, 0, 0)`

test("a link that another node creates, changes, counts and deletes is served as it is", async () => {
  await using pair = await openPair()
  const served = () => pair.known.links.at(null, "Spring")?.link
  await pair.change(insertLink)
  expect(served()).toMatchObject({ id: 1, destination: "https://shop.example/a" })
  await pair.change(sql`update links_links set destination = 'https://shop.example/b', clicks_human = 3`)
  expect(served()).toMatchObject({ destination: "https://shop.example/b", clicks_human: 3 })
  await pair.change(sql`update links_links set deleted_at = 1`)
  expect(served()).toBeUndefined()
  await pair.change(sql`update links_links set deleted_at = null`)
  expect(served()).toMatchObject({ id: 1 })
  await pair.change(sql`delete from links_links`)
  expect([served(), pair.known.links.count(1)]).toEqual([undefined, 0])
})

test("a domain that another node adds, renames and removes is served as it is", async () => {
  await using pair = await openPair()
  const hosts = () => ["a.example", "b.example"].map((host) => pair.known.links.domain(host)?.id)
  await pair.change(
    sql`insert into links_domains (organization_id, host, token, created_at, updated_at) values (1, 'a.example', 't', 0, 0)`,
  )
  expect(hosts()).toEqual([1, undefined])
  await pair.change(sql`update links_domains set host = 'b.example'`)
  expect(hosts()).toEqual([undefined, 1])
  await pair.change(sql`delete from links_domains`)
  expect([...hosts(), pair.known.links.domainById(1)]).toEqual([undefined, undefined, undefined])
})

test("a pixel that another node creates, archives and deletes is served as it is", async () => {
  await using pair = await openPair()
  const served = () => pair.known.pixels.at("mail")
  await pair.change(sql`insert into pixels_pixels (site_id, slug, slug_key, name, kind, allowed_params_json, recipient_mode, badge_public,
      created_at, updated_at)
    values (1, 'mail', 'mail', 'Mail', 'email', '[]', 'none', 0, 0, 0)`)
  expect(served()).toMatchObject({ id: 1, archived_at: null })
  await pair.change(sql`update pixels_pixels set archived_at = 5`)
  expect(served()).toMatchObject({ archived_at: 5 })
  await pair.change(sql`delete from pixels_pixels`)
  expect(served()).toBeUndefined()
})
