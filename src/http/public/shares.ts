import { type Static, Type as t } from "@sinclair/typebox"
import { formatShare, ShareInput, ShareResponse } from "../../domain/share.ts"
import { shareEntry } from "../../services/audit/audit.ts"
import type { OwnShare, Shares } from "../../services/sharing/shares.ts"
import { type DefinitionKit, definitionRoutes } from "./definitions.ts"

export interface ShareRoutesOptions {
  shares: Shares
  publicUrl(): string
}

const { slug: _, version: __, ...FIELDS } = ShareResponse.properties
const PublicShare = t.Object(FIELDS, { title: "Share" })

/** Creates the routes for shared views. They belong to the creator of the key, like those made in the dashboard. */
export const shareRoutes = (kit: DefinitionKit, { shares, publicUrl }: ShareRoutesOptions) =>
  definitionRoutes<OwnShare>(kit, {
    path: "shares",
    noun: "share",
    called: "shared view",
    read: ["shares:read"],
    write: ["shares:write"],
    things: { ...shares, create: (site, body, also, { created_by }) => shares.create(site, body, created_by, also) },
    entry: shareEntry,
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
