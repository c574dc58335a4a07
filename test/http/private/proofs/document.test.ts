import { afterAll, expect, test } from "bun:test"
import { Validator } from "@seriousme/openapi-schema-validator"
import { Elysia } from "elysia"
import { router } from "../../../../src/http/router.ts"
import { memoryLog } from "../../../kit.ts"
import { compiler, PRIVATE_DOCUMENT_PATH, undescribedProperties } from "../../openapi/document.ts"
import { openWorld, send, signedIn, type World } from "../scene.ts"
import { shortName } from "./recipes.ts"

/** The OpenAPI document of the private API. */

const world: World = await openWorld({ base_url: "http://localhost:9000" })
afterAll(() => world[Symbol.asyncDispose]())
const { document, operations } = world

test("signed-in users can read the document, anonymous clients and API keys cannot", async () => {
  const { cookie } = await signedIn(world, {})
  const answer = await send(world, "GET", PRIVATE_DOCUMENT_PATH, { cookie })
  expect(answer.status).toBe(200)
  expect(answer.headers.get("cache-control")).toBe("no-store")
  const tag = answer.headers.get("etag")!
  expect((await send(world, "GET", PRIVATE_DOCUMENT_PATH, { cookie, headers: { "if-none-match": tag } })).status).toBe(304)
  for (const sending of [{}, { key: world.instance.key }])
    expect(await send(world, "GET", PRIVATE_DOCUMENT_PATH, sending)).toMatchObject({ status: 401, body: { code: "session_required" } })
})

test("the document is OpenAPI 3.1", async () => {
  const result = await new Validator().validate(structuredClone(document) as unknown as Record<string, unknown>)
  expect(result).toEqual({ valid: true })
  expect(document.components.securitySchemes).toEqual({
    session: { type: "apiKey", in: "cookie", name: "sid", description: expect.any(String) },
  })
})

test("names are unique, and each operation declares its summary, its permission and its errors", () => {
  expect(new Set(operations.map(({ name }) => name)).size).toBe(operations.length)
  for (const path of Object.values(document.paths))
    for (const operation of Object.values(path)) {
      const { summary, security } = operation
      expect(summary).toMatch(/^[A-Z].*[^.]$/)
      expect(operation["x-permission"]).toMatch(/^(open|self|member|instance_admin|[a-z]+:[a-z]+)$/)
      expect(security).toEqual(operation["x-permission"] === "open" ? [] : [{ session: [] }])
    }
  for (const { name, permission, answers, gate } of operations) {
    const strangers = JSON.stringify(answers["401"] ?? {}).includes("session_required")
    expect({ name, isShut: strangers }).toEqual({ name, isShut: permission !== "open" })
    if (gate.sudo || permission === "instance_admin") expect({ name, is403: "403" in answers }).toEqual({ name, is403: true })
  }
})

test("the path determines where a permission is checked", () => {
  for (const operation of operations) {
    const { path, gate } = operation
    const wanted = path.includes("/sites/{site}")
      ? ["site"]
      : path.includes("/organizations/{organization}")
        ? ["organization"]
        : path.startsWith("/api/private/admin/")
          ? ["instance_admin", "open"]
          : ["open", "self", "signed_in"]
    expect({ name: shortName(operation), isThere: wanted.includes(gate.ask) }).toEqual({ name: shortName(operation), isThere: true })
  }
  // The only open console route: an admin who returns from an impersonation has no console rights in that session.
  const open = operations.filter(({ path, permission }) => path.startsWith("/api/private/admin/") && permission !== "instance_admin")
  expect(open.map(shortName)).toEqual(["POST /admin/impersonation/stop"])
})

test("every write with a body declares it", () => {
  // Operations whose path contains everything.
  const silent = operations.filter(({ method, bodies }) => method !== "GET" && method !== "DELETE" && Object.keys(bodies).length === 0)
  const SAID = `
POST /auth/logout · POST /me/sessions/revoke-others · POST /me/totp/start · POST /me/totp/disable · POST /me/recovery-codes ·
POST /organizations/{organization}/domains/{domain_id}/verify · POST /organizations/{organization}/providers/{provider_id}/test ·
POST /organizations/{organization}/invitations/{invitation_id}/resend · POST /sites/{site}/restore · PUT /sites/{site}/pin ·
POST /sites/{site}/takeout · POST /admin/users/{user_id}/disable · POST /admin/users/{user_id}/enable ·
POST /admin/users/{user_id}/reset-password · POST /admin/users/{user_id}/reset-mfa · POST /admin/users/{user_id}/sign-out ·
POST /admin/impersonation/stop · POST /admin/sites/{site_id}/restore · POST /admin/api-keys/{api_key_id}/revoke ·
POST /admin/jobs/{job_id}/cancel · POST /admin/jobs/{job_id}/retry · POST /admin/schedules/{name}/run · POST /admin/backups/upload ·
POST /admin/updates/check · POST /admin/notices/{notice_id}/dismiss ·
POST /sites/{site}/cohorts/{cohort_id}/restore · POST /sites/{site}/cohorts/{cohort_id}/refresh ·
POST /sites/{site}/links/{link_id}/restore · POST /sites/{site}/pixels/{pixel_id}/restore ·
POST /sites/{site}/link-domains/{link_domain_id}/verify · POST /sites/{site}/imports/{import_id}/cancel ·
POST /sites/{site}/dashboards/{dashboard_id}/restore · POST /sites/{site}/imports/{import_id}/undo · POST /sites/{site}/imports/{import_id}/retry ·
POST /sites/{site}/revenue/recompute · POST /sites/{site}/integrations/{integration_id}/test · POST /sites/{site}/integrations/search-console/sync · POST /sites/{site}/webhooks/{webhook_id}/test ·
POST /sites/{site}/reports/{report_id}/send-now · POST /sites/{site}/alerts/{alert_id}/test · POST /sites/{site}/webhooks/{webhook_id}/rotate-secret · POST /sites/{site}/webhooks/{webhook_id}/deliveries/{delivery}/redeliver ·
POST /sites/{site}/settings/host-proofs/{host_proof_id}/verify`
    .split("·")
    .map((name) => name.trim())
  expect(silent.map(shortName).filter((name) => !SAID.includes(name))).toEqual([])
})

test("schemas compile, and every reference resolves", () => {
  const compile = compiler(document, { closed: true })
  for (const { name, bodies, answers } of operations) {
    for (const { schema } of Object.values(bodies)) expect({ name, check: typeof compile(schema) }).toEqual({ name, check: "function" })
    for (const { content } of Object.values(answers)) for (const { schema } of Object.values(content)) compile(schema)
  }
  const text = JSON.stringify(document)
  const referred = new Set([...text.matchAll(/"\$ref":"#\/components\/([^"]+)"/g)].map(([, name]) => name!))
  for (const name of referred) {
    const [kind, part] = name.split("/") as ["schemas", string]
    expect({ name, isThere: document.components[kind][part] !== undefined }).toEqual({ name, isThere: true })
  }
})

test("every list takes the parameters of paging, and `count` if it can be counted", () => {
  const pages = operations.flatMap((operation) => {
    const { schema } = operation.answers["200"]?.content["application/json"] ?? {}
    const title = String(schema?.$ref ?? "")
      .split("/")
      .at(-1)!
    const { properties = {} } = (document.components.schemas[title] ?? schema ?? {}) as { properties?: Record<string, object> }
    // A list that is never divided declares a cursor that is always null.
    return "data" in properties && JSON.stringify(properties.next_cursor)?.includes("string") ? [{ operation, properties }] : []
  })
  expect(pages.length).toBeGreaterThan(30)
  for (const { operation, properties } of pages) {
    const names = operation.parameters.map(({ name }) => name)
    const wanted = ["limit", "cursor", ...("total" in properties ? ["count"] : [])]
    expect({ name: shortName(operation), missing: wanted.filter((name) => !names.includes(name)) }).toEqual({
      name: shortName(operation),
      missing: [],
    })
  }
})

test("every property of a schema has a description", () => {
  expect(undescribedProperties(document)).toEqual([])
})

test("the document reveals nothing about the instance except its address and its routes", () => {
  const text = JSON.stringify(document)
  for (const word of [world.provider.issuer, world.provider.clientSecret, world.instance.dataDir, "shop.example", "user-"])
    expect(text).not.toContain(word)
})

test.each([
  ["has no summary", { "x-permission": "self", "x-gate": { ask: "self" } }, "is missing in the OpenAPI document of the private API"],
  ["names no permission", { summary: "Silent" }, "has no access rule"],
])("the server does not start with a private route that %s", (_, detail, message) => {
  const silent = new Elysia().get("/api/private/silent", () => ({}), { detail: detail as object })
  expect(() => router({ baseUrl: "", log: memoryLog(), headers: {} }, [silent])).toThrow(`GET /api/private/silent ${message}`)
})
