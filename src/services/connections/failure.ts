/** Why an account can't be connected, or a connection can't be used. Areas translate the codes into errors of their own. */
export type ConnectionFault =
  /** The operator has configured no client for this provider. */
  | "not_configured"
  /** There is no such connection in the organization. */
  | "not_connected"
  /** The grant has ended. A person must connect the account again. */
  | "needs_reauth"
  /** The account has not granted the scope. */
  | "scope_not_granted"
  /** The person refused the access. */
  | "denied"
  /** The provider rejects the client of this instance. */
  | "client_rejected"
  /** The JSON key of a service account is malformed. */
  | "invalid_service_account"
  /** The provider asks to wait. */
  | "quota"
  /** The provider can't be reached, or answers nonsense. */
  | "unavailable"
  /** Outgoing requests are turned off. */
  | "outbound_disabled"

/** A failure of a connection, for the area that uses it. */
export class ConnectionFailure extends Error {
  constructor(
    readonly code: ConnectionFault,
    /** How long the provider asks to wait. */
    readonly retryAfterMs?: number,
  ) {
    super(`The connection failed: ${code}`)
    this.name = "ConnectionFailure"
  }
}
