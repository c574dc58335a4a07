import type { Statements } from "../../store/catalog/catalog.ts"
import { sql } from "../../store/sql.ts"

/** A member who leaves an organization, and who takes over what belonged to them. */
export interface MemberLeave {
  organizationId: number
  /** Ids of all sites of the organization, including deleted ones that can still be restored. */
  siteIds: readonly number[]
  userId: number
  /** Member named in the removal. Takes over what only the leaving member could see. */
  transferTo: number | undefined
  /** Member who carried out the removal, otherwise an owner. Takes over what others use too. */
  successor: number
}

/** A site that moves to another organization. */
export interface SiteTransfer {
  siteId: number
  from: number
  to: number
  /** Members of the organization that the site leaves who lose access to it. */
  leaverIds: readonly number[]
  /** Member who carried out the transfer, otherwise an owner. Takes over what belonged to those who lose the site. */
  successor: number
}

/** What an area does with its things. Runs in the transaction of the change, which a failure undoes. */
export interface HandoverHooks {
  onMemberLeave?(statements: Statements, leave: MemberLeave): Promise<void>
  onSiteTransfer?(statements: Statements, transfer: SiteTransfer): Promise<void>
  onOrganizationDelete?(statements: Statements, organizationId: number): Promise<void>
}

/** Hands over what belongs to people who lose access to an organization or a site. */
export interface Handover {
  register(hooks: HandoverHooks): void
  /** Call it in the transaction in which a member leaves, after the membership is deleted. `by` is the author of the change. */
  memberLeaves(
    statements: Statements,
    leave: { organizationId: number; userId: number; transferTo?: number | undefined; by: number | null },
  ): Promise<void>
  /** Call it in the transaction in which an organization is deleted. Its sites are purged later. */
  organizationEnds(statements: Statements, organizationId: number): Promise<void>
  /** Call it in the transaction in which a site moves, after it has moved. */
  siteMoves(statements: Statements, move: { siteId: number; from: number; to: number; by: number }): Promise<void>
}

export function createHandover(): Handover {
  const registered: HandoverHooks[] = []
  return {
    register: (hooks) => void registered.push(hooks),
    async memberLeaves(statements, { organizationId, userId, transferTo, by }) {
      // The last member is its own successor: no one else can see what is left.
      const successor = (await successorIn(statements, organizationId, by)) ?? userId
      const siteIds = await siteIdsOf(statements, organizationId)
      for (const { onMemberLeave } of registered)
        await onMemberLeave?.(statements, { organizationId, siteIds, userId, transferTo, successor })
    },
    async organizationEnds(statements, organizationId) {
      for (const { onOrganizationDelete } of registered) await onOrganizationDelete?.(statements, organizationId)
    },
    async siteMoves(statements, { siteId, from, to, by }) {
      const leaverIds = await leaversOf(statements, from, to)
      const successor = (await successorIn(statements, to, by)) ?? by
      for (const { onSiteTransfer } of registered) await onSiteTransfer?.(statements, { siteId, from, to, leaverIds, successor })
    },
  }
}

/** Returns the author of a change if they are a member, otherwise the first owner, preferably an active one. */
async function successorIn(statements: Statements, organizationId: number, by: number | null): Promise<number | undefined> {
  const row = await statements.get<{ user_id: number }>(sql`
    select user_id from memberships join users on users.id = memberships.user_id
    where organization_id = ${organizationId}
    order by user_id = ${by ?? 0} desc, role = 'owner' desc, users.status = 'active' desc, memberships.id limit 1`)
  return row?.user_id
}

const siteIdsOf = async (statements: Statements, organizationId: number): Promise<number[]> =>
  (await statements.all<{ id: number }>(sql`select id from sites where organization_id = ${organizationId} order by id limit 1000`)).map(
    ({ id }) => id,
  )

/** Returns the members of an organization who are not members of another one. Guests of the other one don't see a new site either. */
const leaversOf = async (statements: Statements, from: number, to: number): Promise<number[]> =>
  (
    await statements.all<{ user_id: number }>(sql`
      select user_id from memberships where organization_id = ${from}
        and user_id not in (select user_id from memberships where organization_id = ${to} and role <> 'guest')
      order by user_id limit 1000`)
  ).map(({ user_id }) => user_id)
