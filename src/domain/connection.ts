/** How a connection proves who it is: by a grant of a person, by the key of a service account, or by an API key. */
export type ConnectionMethod = "oauth" | "service_account" | "key"

/** Whether a connection works. `needs_reauth` ends only when a person connects the account again. */
export type ConnectionStatus = "ok" | "needs_reauth" | "error"

/** A connection of an organization to one account at an outside service, without its tokens. Times are epoch milliseconds. */
export interface Connection {
  id: number
  organization_id: number
  /** Outside service, such as `google`. */
  provider: string
  method: ConnectionMethod
  /** Id of the account at the provider. It stays the same when the email address of the account changes. */
  account_id: string
  /** Email address or name of the account, as people know it. */
  account_label: string
  /** Scopes that the account has granted. */
  scopes: readonly string[]
  status: ConnectionStatus
  /** Cause of a status other than `ok`. */
  error_code: string | null
  error_at: number | null
  /** When an access token was last received. */
  refreshed_at: number | null
  created_by: number | null
  created_at: number
  updated_at: number
  version: number
}
