import { expect, test } from "bun:test"
import imports from "../imports.ts"
import added from "../ui/area.ts"
import pages from "../ui/pages.ts"

test("serves the same pages in the browser and on the server", () => {
  expect(pages.map(({ path }) => `/sites/:site${added.areas[0]!.path}${path}`).sort()).toEqual([...(imports.pages ?? [])].sort())
  expect(added.id).toBe(imports.id)
})
