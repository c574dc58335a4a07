import { sql } from "../../../src/store/sql.ts"
import type { TestInstance } from "../../kit.ts"
import type { Ids } from "./good-call.ts"

/** Creates one of each kind of item on a site. Each has the text as its name or value. */
export async function fillSite({ api }: Pick<TestInstance, "api">, siteId: number, key: string, text: string): Promise<Ids> {
  const make = async (things: string, body: object) =>
    ((await api.post(`/api/public/v1/sites/${siteId}/${things}`, body, key)).body as { id: number }).id
  const steps = [
    { type: "page", value: `/${text}` },
    { type: "event", value: text },
  ]
  return {
    site_id: siteId,
    goal_id: await make("goals", { kind: "event", value: text }),
    funnel_id: await make("funnels", { name: text, steps }),
    annotation_id: await make("annotations", { at: "2026-11-20", text }),
    segment_id: await make("segments", { name: text, filters: [{ dimension: "country", values: ["DE"] }] }),
    share_id: await make("shares", { name: text, expires_at: "2027-06-30T12:00:00Z" }),
    api_key_id: await make("api-keys", { name: text, scopes: ["keys:read"] }),
    erasure_id: await make("people/erasures", { user_id: text, confirm: true }),
  }
}

/** Invites a person to a site, and returns the id of the invitation. An organization can send 50 per day. */
export async function invited({ api }: Pick<TestInstance, "api">, siteId: number, key: string, text: string): Promise<number> {
  const body = { email: `${text.replaceAll(" ", "-")}@guests.example`, role: "viewer" }
  return ((await api.post(`/api/public/v1/sites/${siteId}/invitations`, body, key)).body as { id: number }).id
}

/** Creates a member of an organization, and returns the id of the user. */
export async function newMember({ app, signIn }: Pick<TestInstance, "app" | "signIn">, organizationId: number): Promise<number> {
  await signIn({ role: "viewer", organizationId })
  return (await app.instance.catalog.get<{ id: number }>(sql`select max(id) as id from users`))!.id
}
