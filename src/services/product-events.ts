import type { ApiKey } from "../domain/key.ts"
import type { Role } from "../domain/organization.ts"
import type { ProductEvent } from "./outbox.ts"

/** What others are told of members and keys (areas/08 section 6): no address, and no secret. */

/** Of a user in an organization, with the role they have, or had. */
export const memberEvent = (
  verb: "joined" | "removed",
  { organizationId, userId, role }: { organizationId: number; userId: number; role: Role },
): ProductEvent => ({ event: `member.${verb}`, organizationId, payload: { user_id: userId, role } })

/** Nobody is a member by it yet. */
export const invitedEvent = ({ id, organization_id, role }: { id: number; organization_id: number; role: Role }): ProductEvent => ({
  event: "member.invited",
  organizationId: organization_id,
  payload: { invitation_id: id, role },
})

export const keyEvent = (verb: "created" | "expiring" | "revoked", key: ApiKey): ProductEvent => ({
  event: `api_key.${verb}`,
  organizationId: key.organization_id,
  payload: { api_key_id: key.id, name: key.name, scopes: key.scopes, expires_at: key.expires_at },
})
