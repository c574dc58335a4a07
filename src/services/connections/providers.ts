/** An outside service whose accounts can be connected by OAuth. */
export interface ConnectionProvider {
  /** Id, as stored in connections. */
  id: string
  authorizationUrl: string
  tokenUrl: string
  revocationUrl: string
  /** Issuer of the ID tokens that name the account. */
  issuer: string
  /** The client of this instance. Without one, only service accounts can be connected. */
  client: { id: string; secret: string | undefined } | undefined
  /** Parameters of the sign-in page, in addition to those of the protocol. */
  parameters: Readonly<Record<string, string>>
  /** Scopes that name the account, requested in addition to those that an area needs. */
  accountScopes: readonly string[]
  /** Whether the operator has set the URLs. They are trusted and can be loopback addresses. */
  byOperator: boolean
}

/** URLs and client of Google, from the configuration. */
export interface GoogleSettings {
  authorizationUrl: string
  tokenUrl: string
  revocationUrl: string
  client: ConnectionProvider["client"]
}

export const GOOGLE_URLS = {
  authorizationUrl: "https://accounts.google.com/o/oauth2/v2/auth",
  tokenUrl: "https://oauth2.googleapis.com/token",
  revocationUrl: "https://oauth2.googleapis.com/revoke",
} as const

/** Returns Google. `consent` makes it issue a refresh token every time, and the new grant includes the scopes of earlier ones. */
export const googleProvider = ({ client, ...urls }: GoogleSettings): ConnectionProvider => ({
  id: "google",
  ...urls,
  issuer: new URL(urls.authorizationUrl).origin,
  client,
  parameters: { access_type: "offline", prompt: "consent", include_granted_scopes: "true" },
  accountScopes: ["openid", "email"],
  byOperator: Object.entries(GOOGLE_URLS).some(([name, url]) => urls[name as keyof typeof GOOGLE_URLS] !== url), // the keys of the object
})
