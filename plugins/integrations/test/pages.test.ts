import { expect, test } from "bun:test"
import integrations from "../integrations.ts"
import added from "../ui/area.ts"
import pages from "../ui/pages.ts"

test("serves the same pages in the browser and on the server", () => {
  expect(pages.map(({ path }) => `/sites/:site${added.areas[0]!.path}${path}`).sort()).toEqual([...(integrations.pages ?? [])].sort())
  expect(added.id).toBe(integrations.id)
})
