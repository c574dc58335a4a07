import { expect, test } from "bun:test"
import { programPlugins, startInstance } from "#plugin/test"

const CORE = ["site.created", "site.updated", "site.deleted", "goal.created", "goal.deleted", "funnel.created"]
const ACCOUNTS = ["member.invited", "member.joined", "member.removed", "api_key.created", "api_key.expiring", "api_key.revoked"]
const AREAS: Readonly<Record<string, readonly string[]>> = {
  integrations: [
    ...["goal.completed", "traffic.spike", "traffic.drop", "traffic.stopped", "traffic.goal", "traffic.not_found", "traffic.resolved"],
    ...["report.ready", "webhook.disabled", "ping"],
  ],
  imports: ["import.completed", "import.failed", "import.undone"],
  revenue: ["revenue.recorded", "revenue.refunded"],
}

/** Names of fields that no message may have. */
const PRIVATE = /(^|_)(ip|address|email|user_agent|user_id|visitor|token|secret|password|key)(_|$)/

test("offers every event of the product to webhooks, each with a closed payload that names no visitor and no secret", async () => {
  await using instance = await startInstance()
  const cookie = await instance.signIn({ role: "viewer" })
  const answer = await instance.api.get("/api/private/integrations/events", undefined, { cookie })
  const { data } = answer.body as { data: { event: string; only_by_name: boolean; schema: { properties: { data: Schema } } }[] }
  const names = data.map(({ event }) => event)
  const ofAreas = Object.entries(AREAS).flatMap(([area, own]) => (programPlugins.some(({ id }) => id === area) ? own : []))
  expect([...CORE, ...ACCOUNTS, "backup.failed", "integration.needs_reauth", ...ofAreas].filter((name) => !names.includes(name))).toEqual(
    [],
  )
  expect(data.filter(({ only_by_name }) => only_by_name).map(({ event }) => event)).toEqual(["goal.completed", "ping"])
  const fields = data.flatMap(({ event, schema }) => fieldsOf(schema.properties.data).map((field) => `${event} ${field}`))
  expect(fields.length).toBeGreaterThan(60)
  // Members are no visitors, and an API key is known by its id.
  expect(fields.filter((field) => PRIVATE.test(field.split(" ")[1]!))).toEqual([
    ...["member.joined user_id", "member.removed user_id"],
    ...["api_key.created api_key_id", "api_key.expiring api_key_id", "api_key.revoked api_key_id"],
  ])
})

interface Schema {
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
}

/** Returns the names of all fields within a schema. */
const fieldsOf = ({ properties = {}, items, anyOf = [] }: Schema): string[] => [
  ...Object.keys(properties),
  ...[...Object.values(properties), ...anyOf, ...(items ? [items] : [])].flatMap(fieldsOf),
]
