import type { MeResponse } from "./account.ts"
import type { FlatArguments } from "./site-address.ts"
import type { OwnSiteResponse } from "./site-response.ts"

/** The data that the server embeds in a page of the dashboard, so that it can be shown without a request. */
export interface Boot {
  version: string
  /** Hash of the dashboard's files. A different one in a response means that there is a newer page. */
  build: string
  setup_needed: boolean
  /** Absent when no one is signed in. */
  me?: MeResponse
  /** Whether a policy requires a second factor that the user does not have. Only the account pages are available then. */
  factor_missing?: boolean
  /** Origins that may embed the page of a share. Only for such pages. */
  embed_origins?: readonly string[]
  /** The site that the page is about. */
  site?: OwnSiteResponse
  /** The first reports of the site, with their arguments. */
  reports?: { site: number; report: string; given: FlatArguments; data: object }[]
}
