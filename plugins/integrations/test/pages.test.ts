import { expect, test } from "bun:test"
import integrations from "../integrations.ts"
import added from "../ui/area.ts"

test("serves the same pages in the browser and on the server", async () => {
  const all = added.areas.map(async ({ path, load }) => (await load()).default.map((page) => `/sites/:site${path}${page.path}`))
  expect((await Promise.all(all)).flat().sort()).toEqual([...(integrations.pages ?? [])].sort())
  expect(added.id).toBe(integrations.id)
})
