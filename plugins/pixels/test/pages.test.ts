import { expect, test } from "bun:test"
import pixels from "../pixels.ts"
import added from "../ui/area.ts"
import pages from "../ui/pages.ts"

test("the browser draws exactly the pages that the server knows", () => {
  expect(pages.map(({ path }) => `/sites/:site${added.area.path}${path}`).sort()).toEqual([...(pixels.pages ?? [])].sort())
  expect(added.id).toBe(pixels.id)
})
