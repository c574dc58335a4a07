import { expect, test } from "bun:test"
import { Type as t } from "@sinclair/typebox"
import { startInstance } from "#plugin/test"
import { notes } from "./notes.ts"

const Query = t.Object(
  {
    days: t.Integer({ minimum: 1, maximum: 30 }),
    ratio: t.Optional(t.Number()),
    loud: t.Optional(t.Boolean()),
    text: t.Optional(t.String()),
  },
  { additionalProperties: false },
)

const plugin = notes({}, ({ siteRouter }) => ({
  routes: [
    siteRouter().get("/notes/asked", ({ query }) => ({ query }), {
      can: "notes:read",
      query: Query,
      detail: { summary: "Repeat the query" },
    }),
  ],
}))

test("parses numbers and booleans in the query string of a plugin's route by its schema", async () => {
  await using instance = await startInstance({ plugins: [plugin] })
  const headers = { cookie: await instance.signIn({ role: "viewer" }) }
  const ask = (query: string) => instance.api.get(`/api/private/sites/1/notes/asked?${query}`, undefined, headers)
  expect(await ask("days=2&ratio=-0.5&loud=true&text=7")).toMatchObject({
    status: 200,
    body: { query: { days: 2, ratio: -0.5, loud: true, text: "7" } },
  })
  expect(await ask("days=30")).toMatchObject({ status: 200, body: { query: { days: 30 } } })
  for (const [query, code] of [
    ["days=31", "out_of_range"],
    ["days=0", "out_of_range"],
    ["days=two", "invalid_type"],
    ["days=", "invalid_type"],
    ["days=1e1", "invalid_type"],
    ["days=0x10", "invalid_type"],
    ["days=1.5", "invalid_type"],
    ["days=2&loud=1", "invalid_type"],
    ["days=2&more=1", "unknown_field"],
    ["ratio=1", "required"],
  ] as const)
    expect({ query, ...(await ask(query)) }).toMatchObject({ query, status: 400, body: { code: "invalid_query", errors: [{ code }] } })
})
