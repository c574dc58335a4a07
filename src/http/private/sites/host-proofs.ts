import { Elysia } from "elysia"
import type { AuditEntry } from "../../../domain/audit.ts"
import type { HostProof } from "../../../domain/host.ts"
import { proofOf } from "../../../domain/identity-provider.ts"
import { instantText } from "../../../domain/moment.ts"
import { Listed } from "../../../domain/response.ts"
import type { Site } from "../../../domain/site.ts"
import { HostProofResponse } from "../../../domain/site-response.ts"
import { type Audit, recorded } from "../../../services/audit/audit.ts"
import { pageOfAll, readPlainPaging } from "../../../services/lists/paging.ts"
import { type HostClaims, HostProofInput } from "../../../services/sites/host-claims.ts"
import { readNothing } from "../../../web/body.ts"
import type { Admitted, PrivateRouter } from "../../../web/router.ts"
import type { creation } from "../../public/requests.ts"
import { NoQuery, Sent, takes } from "../../public/requests.ts"
import { ListQuery, refuses } from "../responses.ts"

export interface HostProofRoutesOptions {
  hostClaims: HostClaims
  create: ReturnType<typeof creation>
  audit: Audit
}

const operation = (summary: string) => ({ summary, tags: ["settings"] })

/** Creates the routes for the DNS records with which an organization verifies a disputed host. */
export function hostProofRoutes(router: PrivateRouter, { hostClaims, create, audit }: HostProofRoutesOptions) {
  const find = async (params: { id?: string | undefined }, { site }: Admitted) => hostClaims.proof(site!, params.id) // routes below a site have one
  const can = { permission: "site:write", read: readNothing, find }

  return new Elysia({ prefix: "/api/private/sites/:site/settings/host-proofs" })
    .use(router)
    .get(
      "",
      async ({ site, query }) => {
        const page = await pageOfAll(readPlainPaging(`host-proofs/${site.id}`, query), await hostClaims.proofs(site))
        return { ...page, data: page.data.map(toProofResponse) }
      },
      { can: "site:write", query: ListQuery, response: { 200: Listed(HostProofResponse) }, detail: operation("List host verifications") },
    )
    .post(
      "",
      ({ site, user, actor, ...call }) =>
        create<HostProof, HostProofResponse>(
          { ...call, user },
          (body, also) => hostClaims.createProof(site, body, recorded(audit, actor, auditEntry("create", site), also)),
          (proof) => ({ location: `/api/private/sites/${site.id}/settings/host-proofs/${proof.id}`, body: toProofResponse(proof) }),
        ),
      {
        can: "site:write",
        query: NoQuery,
        body: Sent,
        response: { 201: HostProofResponse },
        detail: { ...operation("Create a host verification"), ...takes(HostProofInput) },
      },
    )
    .post(
      "/:id/verify",
      async ({ site, params, actor }) =>
        toProofResponse(
          await hostClaims.verify(site, params.id, {
            alongside: recorded(audit, actor, auditEntry("verify", site)),
            replaced: recorded(audit, actor, auditEntry("replace")),
          }),
        ),
      {
        can,
        query: NoQuery,
        response: { 200: HostProofResponse },
        detail: {
          ...operation("Check the DNS record of a host verification"),
          ...refuses("domain_not_verified", "domain_taken", "outbound_disabled"),
        },
      },
    )
    .delete(
      "/:id",
      async ({ site, params, actor, status }) => {
        await hostClaims.removeProof(site, params.id, recorded(audit, actor, auditEntry("delete", site)))
        return status(204, undefined)
      },
      {
        can,
        query: NoQuery,
        detail: operation("Delete a host verification"),
      },
    )
}

const toProofResponse = (proof: HostProof): HostProofResponse => ({
  id: proof.id,
  host: proof.host,
  record: { type: "TXT", name: proof.host, value: proofOf(proof) },
  verified_at: proof.verified_at === null ? null : instantText(proof.verified_at),
  created_at: instantText(proof.created_at),
})

/** Returns the audit entry for a superseded proof of another organization, which belongs to no site of the caller. */
const auditEntry =
  (verb: string, site?: Site) =>
  ({ id, host, organization_id }: HostProof): AuditEntry => ({
    action: `sites.host_proof.${verb}`,
    target: { type: "host_proof", id, label: host },
    organizationId: organization_id,
    ...(site && { siteId: site.id }),
  })
