import { expect, test } from "bun:test"
import admin from "../admin.ts"
import pages from "../ui/pages.ts"
import added from "../ui/section.ts"

test("the browser draws exactly the pages that the server knows", () => {
  expect(pages.map(({ path }) => `${added.section.path}${path}`).sort()).toEqual([...(admin.pages ?? [])].sort())
  expect(added.id).toBe(admin.id)
})
