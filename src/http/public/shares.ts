import { type Static, Type as t } from "@sinclair/typebox"
import { formatShare, ShareInput, ShareResponse } from "../../domain/share.ts"
import { type Audit, recorded, shareEntry } from "../../services/audit/audit.ts"
import type { OwnShare, Shares } from "../../services/sharing/shares.ts"
import type { ApiKeyAuth } from "../auth.ts"
import { definitionRoutes } from "./definitions.ts"
import type { creation } from "./requests.ts"

export interface ShareRoutesOptions {
  shares: Shares
  audit: Audit
  publicUrl(): string
}

const { slug: _, version: __, ...FIELDS } = ShareResponse.properties
const PublicShare = t.Object(FIELDS, { title: "Share" })

/** Creates the routes for shared views. They belong to the creator of the key, like those made in the dashboard. */
export const shareRoutes = (auth: ApiKeyAuth, create: ReturnType<typeof creation>, { shares, audit, publicUrl }: ShareRoutesOptions) =>
  definitionRoutes<OwnShare>(auth, create, {
    path: "shares",
    noun: "share",
    called: "shared view",
    read: ["shares:read"],
    write: ["shares:write"],
    things: { ...shares, create: (site, body, also, { created_by }) => shares.create(site, body, created_by, also) },
    recorded: (actor, site, verb, also) => recorded(audit, actor, shareEntry(verb, site), also),
    input: ShareInput,
    refuses: ["sharing_disabled", "password_required", "embed_needs_no_password"],
    schema: PublicShare,
    toResponse: (share) => toShare(share, `${publicUrl()}/share/s/${share.slug}`),
  })

function toShare(share: OwnShare, link: string): Static<typeof PublicShare> {
  const { slug: _, version: __, ...terms } = formatShare(share, link)
  const { id, site_id, sections, is_public } = share
  return { id, site_id, ...terms, sections: [...sections], is_public }
}
