import { expect, test } from "bun:test"
import { storedSecrets } from "../../../src/services/key-rotation/stored-secrets.ts"
import { createSecrets } from "../../../src/services/secrets/secrets.ts"
import { sql } from "../../../src/store/sql.ts"
import { temporaryFolder } from "../../kit.ts"
import { openCatalogWith } from "../catalog-kit.ts"

const random = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes))
const place = { table: "links_hooks", row: 7, purpose: "signing" }

async function openSecrets() {
  const folder = temporaryFolder()
  const { catalog, clock } = await openCatalogWith(folder.path)
  const by = (key: number, owner = "links") =>
    storedSecrets({ catalog, clock, secrets: createSecrets({ secretKey: new Uint8Array(32).fill(key), random }) }, owner)
  return {
    catalog,
    clock,
    by,
    async [Symbol.asyncDispose]() {
      await catalog.close()
      folder[Symbol.dispose]()
    },
  }
}

test("stores, masks, replaces and removes a secret", async () => {
  await using store = await openSecrets()
  const { catalog, clock } = store
  const secrets = store.by(1)
  const id = await secrets.put(catalog, place, "sk_live_0123456789a1b2")
  expect(await secrets.open(id)).toBe("sk_live_0123456789a1b2")
  expect(await secrets.shown(id)).toEqual({ set: true, hint: "…a1b2", updated_at: "2026-11-21T12:00:00Z" })
  const row = await catalog.get<{ sealed: Uint8Array }>(sql`select sealed from secrets`)
  expect(Buffer.from(row!.sealed).includes("sk_live")).toBe(false)
  clock.advance(60_000)
  await secrets.replace(catalog, id, "short")
  expect(await secrets.open(id)).toBe("short")
  expect(await secrets.shown(id)).toEqual({ set: true, updated_at: "2026-11-21T12:01:00Z" })
  await secrets.remove(catalog, id)
  expect([await secrets.open(id), await secrets.shown(id), await secrets.shown(null)]).toEqual([undefined, { set: false }, { set: false }])
})

test("a secret opens only for its owner, its row and its key", async () => {
  await using store = await openSecrets()
  const { catalog } = store
  const id = await store.by(1).put(catalog, place, "value")
  expect([await store.by(1).open(id), await store.by(1, "pixels").open(id), await store.by(2).open(id)]).toEqual([
    "value",
    undefined,
    undefined,
  ])
  expect(store.by(1, "pixels").replace(catalog, id, "other")).rejects.toThrow()
  await store.by(1, "pixels").remove(catalog, id)
  await catalog.run(sql`update secrets set place_row = '8'`)
  expect(await store.by(1).open(id)).toBeUndefined()
})
