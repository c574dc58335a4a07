import { afterAll, expect, test } from "bun:test"
import { linkStand, PATH } from "./kit.ts"

const stand = await linkStand()
afterAll(() => stand[Symbol.asyncDispose]())
const { ask, make, visit } = stand
const { instance } = stand
const destination = "https://example.com/"

test("fills empty fields from a template and rejects a link without its required fields", async () => {
  const path = "/api/private/sites/1/utm-templates"
  const template = (await ask("POST", path, { name: "News", fields: { utm_source: "news" }, required: ["utm_source", "utm_campaign"] }))
    .body
  expect(await ask("POST", PATH, { destination, utm_template_id: template.id })).toMatchObject({
    status: 422,
    body: { code: "utm_required", errors: [{ pointer: "/utm/utm_campaign", code: "required" }] },
  })
  const link = await make({ destination, utm_template_id: template.id, utm: { utm_campaign: "spring" } })
  expect(link.utm).toEqual({ utm_source: "news", utm_campaign: "spring" })
  expect((await visit(`/l/${link.slug}`)).headers.get("location")).toBe("https://example.com/?utm_source=news&utm_campaign=spring")
  expect(await ask("POST", path, { name: "NEWS" })).toMatchObject({
    status: 422,
    body: { errors: [{ pointer: "/name", code: "not_unique" }] },
  })
  expect((await ask("PATCH", `${path}/${template.id}`, { required: [], version: 1 })).body).toMatchObject({ required: [], version: 2 })
  expect(await ask("PATCH", `${path}/${template.id}`, { name: "x", version: 1 })).toMatchObject({
    status: 409,
    body: { code: "version_conflict" },
  })
  expect((await ask("DELETE", `${path}/${template.id}`)).status).toBe(204)
  expect(await ask("GET", `${path}/${template.id}`)).toMatchObject({ status: 404, body: { code: "template_not_found" } })
  expect(await ask("POST", PATH, { destination, utm_template_id: template.id })).toMatchObject({
    status: 404,
    body: { code: "template_not_found" },
  })
})

test("lets only users who can change the organization edit a template for all sites", async () => {
  const path = "/api/private/sites/1/utm-templates"
  const editor = { cookie: await instance.signIn({ role: "editor" }) }
  expect(await ask("POST", path, { name: "All", all_sites: true }, editor)).toMatchObject({
    status: 403,
    body: { required_permission: "org:write" },
  })
  const { body } = await ask("POST", path, { name: "All", all_sites: true })
  expect(await ask("DELETE", `${path}/${body.id}`, undefined, editor)).toMatchObject({ status: 403 })
})
