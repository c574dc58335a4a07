import { expect, test } from "bun:test"
import admin from "../admin.ts"
import pages from "../ui/pages.ts"
import added from "../ui/section.ts"

test("serves the same pages in the browser and on the server", () => {
  expect(pages.map(({ path }) => `${added.section.path}${path}`).sort()).toEqual([...(admin.pages ?? [])].sort())
  expect(added.id).toBe(admin.id)
})
