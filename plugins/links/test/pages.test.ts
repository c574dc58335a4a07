import { expect, test } from "bun:test"
import links from "../links.ts"
import added from "../ui/area.ts"
import pages from "../ui/pages.ts"

test("the browser draws exactly the pages that the server knows", () => {
  expect(pages.map(({ path }) => `/sites/:site${added.area.path}${path}`).sort()).toEqual([...(links.pages ?? [])].sort())
  expect(added.id).toBe(links.id)
})
