import type { HostDecision, HostProof } from "../../domain/host-claim.ts"
import { sql } from "../sql.ts"
import type { Slice, Statements } from "./catalog.ts"

const PROOF = sql`id, organization_id, host, token, verified_at, created_at`
const DECISION = sql`id, host, organization_id, decided_by, decided_at`

export async function insertHostProof(catalog: Statements, proof: Omit<HostProof, "id" | "verified_at">): Promise<HostProof> {
  const row = await catalog.get<HostProof>(sql`
    insert into host_proofs (organization_id, host, token, created_at)
    values (${proof.organization_id}, ${proof.host}, ${proof.token}, ${proof.created_at})
    returning ${PROOF}`)
  return row! // an insert that returns has a row
}

/** Lists the host proofs of an organization, by id ascending. */
export const listHostProofs = (catalog: Statements, organizationId: number): Promise<HostProof[]> =>
  catalog.all(sql`select ${PROOF} from host_proofs where organization_id = ${organizationId} order by id limit 1000`)

/** Lists the verified host proofs of all organizations, by id ascending. */
export const listVerifiedHostProofs = (catalog: Statements, { after, limit }: Slice): Promise<HostProof[]> =>
  catalog.all(sql`select ${PROOF} from host_proofs where id > ${after} and verified_at is not null order by id limit ${limit}`)

export const hostProofById = (catalog: Statements, organizationId: number, id: number): Promise<HostProof | undefined> =>
  catalog.get(sql`select ${PROOF} from host_proofs where organization_id = ${organizationId} and id = ${id}`)

export const verifiedHostProof = (catalog: Statements, host: string): Promise<HostProof | undefined> =>
  catalog.get(sql`select ${PROOF} from host_proofs where host = ${host} and verified_at is not null`)

export async function updateHostProof(catalog: Statements, id: number, verifiedAt: number | null): Promise<HostProof> {
  const row = await catalog.get<HostProof>(sql`update host_proofs set verified_at = ${verifiedAt} where id = ${id} returning ${PROOF}`)
  return row! // found in the same transaction
}

export const deleteHostProof = (catalog: Statements, id: number): Promise<void> =>
  catalog.run(sql`delete from host_proofs where id = ${id}`)

/** Lists host decisions, by id ascending. */
export const listHostDecisions = (catalog: Statements, { after, limit }: Slice): Promise<HostDecision[]> =>
  catalog.all(sql`select ${DECISION} from host_decisions where id > ${after} order by id limit ${limit}`)

export const hostDecision = (catalog: Statements, host: string): Promise<HostDecision | undefined> =>
  catalog.get(sql`select ${DECISION} from host_decisions where host = ${host}`)

/** Inserts a decision or replaces the previous one for the host. */
export async function putHostDecision(catalog: Statements, decision: Omit<HostDecision, "id">): Promise<HostDecision> {
  const row = await catalog.get<HostDecision>(sql`
    insert into host_decisions (host, organization_id, decided_by, decided_at)
    values (${decision.host}, ${decision.organization_id}, ${decision.decided_by}, ${decision.decided_at})
    on conflict (host) do update set
      organization_id = excluded.organization_id, decided_by = excluded.decided_by, decided_at = excluded.decided_at
    returning ${DECISION}`)
  return row! // an upsert that returns has a row
}

export const deleteHostDecision = (catalog: Statements, host: string): Promise<void> =>
  catalog.run(sql`delete from host_decisions where host = ${host}`)
