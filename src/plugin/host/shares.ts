import type { Clock } from "../../domain/clock.ts"
import type { ShareState, ShareTerms } from "../../domain/share.ts"
import type { Instance } from "../../services/instance/instance.ts"
import { createShareOpening, type ShareOpening, type SharePages } from "../../services/sharing/opening.ts"
import type { ShareKind, ShareList } from "../../services/sharing/share-list.ts"
import type { UnlockCookies } from "../../services/sharing/unlock-cookies.ts"
import type { Statements } from "../../store/catalog/catalog.ts"
import type { Call } from "../../web/guard.ts"
import type { Authorize } from "../../web/router.ts"
import { shareRouter } from "../../web/share-router.ts"
import { type OwnStatements, ownStatements } from "./own-tables.ts"

/** A kind of share whose table belongs to a plugin. */
export interface PluginShareKind<Owner, Fields extends ShareTerms, Share extends Fields & ShareState>
  extends ShareKind<Owner, Fields, Share, OwnStatements> {
  /** Segment of the paths: with `d`, pages are below `/share/d/` and the routes of viewers below `/api/share/d/`. Both are open paths of the plugin. */
  segment: string
  /** Paths of the pages below `/share/<segment>/:slug`. Default: only the page of the share itself. */
  pages?: readonly string[]
  /** Called when a page of a share is loaded. */
  onView?(share: Share): void
}

/** Shares of one kind, with the same rules as shared views of a site: slugs, passwords, expiry, policies and embedding. */
export interface PluginShares<Owner, Fields, Share extends object> extends Omit<ShareList<Owner, Fields, Share>, "insert"> {
  opening: ShareOpening<Owner, Share>
  /** For the plugin's `sharePages`. */
  pages: SharePages
  /** Creates the router for viewers. Answers like an unknown share while the plugin is disabled. */
  router(): ReturnType<typeof shareRouter<Owner, Share>>
}

/** Creates shares of one kind. */
export type CreatePluginShares = <Owner, Fields extends ShareTerms, Share extends Fields & ShareState>(
  kind: PluginShareKind<Owner, Fields, Share>,
) => PluginShares<Owner, Fields, Share>

interface PluginSharesOptions {
  instance: Pick<Instance, "accounts" | "shareList">
  id: string
  authorize: Authorize
  clock: Pick<Clock, "now">
  cookiesOf(infix: string): UnlockCookies
  networkOf(call: Pick<Call, "request" | "server">): string
  isOn(): boolean
}

export function pluginShares(options: PluginSharesOptions): CreatePluginShares {
  const { instance, id, authorize, clock, networkOf, isOn } = options
  return (kind) => {
    const { segment, pages = [], onView } = kind
    const { insert: _, ...list } = instance.shareList({ ...kind, rows: rowsOf(kind.rows, id) })
    const opening = createShareOpening({
      shares: list,
      cookies: options.cookiesOf(`${segment}-`),
      passwords: instance.accounts.passwords.lowPriority,
      clock,
      isOn,
      ...(onView && { onView }),
    })
    const page = `/share/${segment}/:slug`
    return {
      ...list,
      opening,
      pages: { paths: [page, ...pages.map((path) => page + path)], opening },
      router: () => shareRouter(authorize, { name: `${id} ${segment}`, prefix: `/api/share/${segment}`, opening, networkOf }),
    }
  }
}

/** Limits the statements of each function to the tables of the plugin. */
function rowsOf<Owner, Fields extends ShareTerms, Share extends Fields & ShareState>(
  rows: ShareKind<Owner, Fields, Share, OwnStatements>["rows"],
  id: string,
): ShareKind<Owner, Fields, Share>["rows"] {
  const own = (statements: Statements) => ownStatements(statements, id)
  return {
    insert: (statements, ...rest) => rows.insert(own(statements), ...rest),
    list: (statements, ...rest) => rows.list(own(statements), ...rest),
    count: (statements, ...rest) => rows.count(own(statements), ...rest),
    byId: (statements, ...rest) => rows.byId(own(statements), ...rest),
    bySlugHash: (statements, ...rest) => rows.bySlugHash(own(statements), ...rest),
    update: (statements, ...rest) => rows.update(own(statements), ...rest),
    remove: (statements, ...rest) => rows.remove(own(statements), ...rest),
  }
}
