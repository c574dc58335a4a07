import { AppError } from "../../domain/error.ts"
import { THINGS } from "../../domain/limits.ts"
import type { SavedFilter } from "../../domain/segment.ts"
import { DEFAULT_SECTIONS, DEFAULT_TERMS, type Share, type ShareFields, ShareInput, shareNotFound } from "../../domain/share.ts"
import type { Site } from "../../domain/site.ts"
import type { Statements } from "../../store/catalog/catalog.ts"
import {
  countShares,
  deleteShare,
  insertShare,
  listShares,
  markPublic,
  publicShareOf,
  shareById,
  shareBySlugHash,
  updateShare,
} from "../../store/catalog/shares.ts"
import type { SegmentUses } from "../definitions/segments.ts"
import { createShareList, type ShareKind, type ShareList, type ShareListOptions, type WithSlug } from "./share-list.ts"

/** A shared view as editors see it, with its slug. */
export type OwnShare = WithSlug<Share>

/** Views of a site for everyone who has their URL. An unknown id is `share_not_found`. */
export interface Shares extends Omit<ShareList<Site, ShareFields, Share>, "insert"> {
  /** Creates or removes the view of a public site, in the transaction that changes the setting. Throws the errors of `create`. */
  publish(statements: Statements, site: Site, isPublic: boolean, userId: number): Promise<void>
  /** Returns the views whose filters are locked to a segment. */
  usesOfSegment: SegmentUses
}

interface SharesOptions extends ShareListOptions {
  sites: { directory: { byId(id: number): Site | undefined } }
}

/** The fields of the view of a public site. It is an ordinary view in every other respect. */
const PUBLIC_SHARE: ShareFields = { name: "Public", ...DEFAULT_TERMS, sections: DEFAULT_SECTIONS }

export function createShares(options: SharesOptions): Shares {
  const { catalog, sites } = options
  const kind: ShareKind<Site, ShareFields, Share> = {
    rows: {
      insert: insertShare,
      list: listShares,
      count: countShares,
      byId: shareById,
      bySlugHash: shareBySlugHash,
      update: updateShare,
      remove: deleteShare,
    },
    input: ShareInput,
    defaults: PUBLIC_SHARE,
    serverSet: ["slug", "url", "has_password", "is_public"],
    siteOf: (site) => site,
    ownerOf: async ({ site_id }) => sites.directory.byId(site_id),
    notFound: shareNotFound,
    tooMany: () =>
      new AppError("limit_reached", `A site can have ${THINGS.shares} shared views.`, { limit: THINGS.shares, resource: "shares" }),
  }
  const { insert, ...list } = createShareList(kind, options)

  return {
    ...list,
    async publish(statements, site, isPublic, userId) {
      const present = await publicShareOf(statements, site.id)
      if (!isPublic && present) await deleteShare(statements, present.share)
      if (isPublic && !present) await markPublic(statements, await insert(statements, site, PUBLIC_SHARE, userId))
    },
    async usesOfSegment(site, segmentId) {
      const shares = await listShares(catalog, site, { after: 0, limit: THINGS.shares })
      return shares
        .filter(({ share }) => namesSegment(share.locked_filters, segmentId))
        .map(({ share: { id, name } }) => ({ type: "share", id, name }))
    },
  }
}

/** Returns whether filters name a segment. */
export const namesSegment = (filters: readonly SavedFilter[], segmentId: number): boolean =>
  filters.some(({ dimension, values }) => dimension === "segment" && values.some((value) => Number(value) === segmentId))
