import { expect, test } from "bun:test"
import pixels from "../pixels.ts"
import added from "../ui/area.ts"
import pages from "../ui/pages.ts"

test("serves the same pages in the browser and on the server", () => {
  expect(pages.map(({ path }) => `/sites/:site${added.areas[0]!.path}${path}`).sort()).toEqual([...(pixels.pages ?? [])].sort())
  expect(added.id).toBe(pixels.id)
})
