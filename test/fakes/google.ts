import { createHash, createPublicKey, generateKeyPairSync, randomUUID, sign, verify } from "node:crypto"

/** How the fake behaves until the next change. */
export type GoogleScenario =
  | "ok"
  | "denied"
  | "invalid_grant"
  | "client_rejected"
  | "quota_429"
  | "500"
  | "malformed"
  | "no_refresh_token"
  | "rotates"

/** A person or a service account that the fake knows. */
export interface GoogleAccount {
  sub: string
  email: string
}

export interface Google extends AsyncDisposable {
  origin: string
  /** Settings of an instance that uses the fake instead of Google. */
  settings: Record<string, string>
  /** The account that consents at the next visit of the sign-in page. */
  account: GoogleAccount
  scenario: GoogleScenario
  /** Scopes that the person unticks at the consent page. */
  droppedScopes: Set<string>
  /** Delay of each answer of the token URL. */
  delayMs: number
  /** Requests by path, and the grant types of those to the token URL. */
  requests: { path: string; grant?: string }[]
  /** Tokens that were revoked. */
  revoked: string[]
  /** Sends the browser to the sign-in page, and returns the URL to which it is sent back. */
  consent(url: string): Promise<URL>
  /** Returns the JSON key of a new service account. */
  serviceAccount(email?: string): Record<string, string>
  /** Returns the scopes of a valid access token, for the fakes of Google's APIs. */
  scopesOf(request: Request): readonly string[] | undefined
  /** Adds one of Google's APIs. It answers undefined for requests to others. */
  api(answer: (request: Request, url: URL) => Response | undefined | Promise<Response | undefined>): void
}

const CLIENT = { id: "client-1.apps.example", secret: "client secret that no one sees" }
const TOKEN_SECONDS = 3_600

/**
 * Starts a server on loopback that acts like Google's sign-in and token pages: it consents at once, checks PKCE, client, redirect URI and
 * the assertions of service accounts, and gives each account one grant per client that grows by the scopes.
 */
export async function google({ now }: { now(): number }): Promise<Google> {
  const codes = new Map<string, { account: GoogleAccount; query: URLSearchParams; scopes: string[] }>()
  const grants = new Map<string, { account: GoogleAccount; scopes: string[] }>()
  const tokens = new Map<string, { scopes: string[]; expiresAt: number }>()
  const keys = new Map<string, string>()
  const granted = new Map<string, Set<string>>()
  const idTokenKey = generateKeyPairSync("rsa", { modulusLength: 2048 })
  const apis: Parameters<Google["api"]>[0][] = []

  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const url = new URL(request.url)
      if (url.pathname === "/o/oauth2/v2/auth") return authorize(url)
      if (url.pathname === "/token") return token(new URLSearchParams(await request.text()))
      if (url.pathname === "/revoke") return revoke(new URLSearchParams(await request.text()))
      fake.requests.push({ path: url.pathname })
      for (const answer of apis) {
        const response = await answer(request, url)
        if (response) return response
      }
      return new Response("not found", { status: 404 })
    },
  })
  const origin = `http://127.0.0.1:${server.port}`

  function authorize(url: URL): Response {
    fake.requests.push({ path: "/auth" })
    const query = url.searchParams
    const back = new URL(query.get("redirect_uri")!)
    back.searchParams.set("state", query.get("state") ?? "")
    if (query.get("client_id") !== CLIENT.id) return new Response("unknown client", { status: 400 })
    if (fake.scenario === "denied") back.searchParams.set("error", "access_denied")
    else {
      const { account } = fake
      const all = granted.get(account.sub) ?? new Set<string>()
      for (const scope of query.get("scope")!.split(" ")) if (!fake.droppedScopes.has(scope)) all.add(scope)
      granted.set(account.sub, all)
      const code = randomUUID()
      codes.set(code, { account, query, scopes: [...all] })
      back.searchParams.set("code", code)
    }
    return Response.redirect(back.href, 302)
  }

  async function token(form: URLSearchParams): Promise<Response> {
    const grant = form.get("grant_type") ?? ""
    fake.requests.push({ path: "/token", grant })
    await Bun.sleep(fake.delayMs)
    if (fake.scenario === "500") return new Response("broken", { status: 500 })
    if (fake.scenario === "malformed") return new Response("<html>", { headers: { "content-type": "application/json" } })
    if (fake.scenario === "quota_429") return new Response("slow down", { status: 429, headers: { "retry-after": "120" } })
    if (fake.scenario === "invalid_grant" && grant !== "authorization_code") return refusal("invalid_grant")
    if (grant === "urn:ietf:params:oauth:grant-type:jwt-bearer") return assertion(form.get("assertion") ?? "")
    const isClient = form.get("client_id") === CLIENT.id && form.get("client_secret") === CLIENT.secret
    if (!isClient || fake.scenario === "client_rejected") return refusal("invalid_client", 401)
    return grant === "authorization_code" ? firstTokens(form) : refreshed(form.get("refresh_token") ?? "")
  }

  function firstTokens(form: URLSearchParams): Response {
    const found = codes.get(form.get("code") ?? "")
    codes.delete(form.get("code") ?? "")
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url")
    if (!found || challenge !== found.query.get("code_challenge") || found.query.get("code_challenge_method") !== "S256")
      return refusal("invalid_grant")
    if (form.get("redirect_uri") !== found.query.get("redirect_uri")) return refusal("redirect_uri_mismatch")
    const { account, scopes, query } = found
    const refresh_token = `1//${randomUUID()}`
    grants.set(refresh_token, { account, scopes })
    const claims = { iss: origin, aud: CLIENT.id, sub: account.sub, email: account.email, nonce: query.get("nonce") }
    return Response.json({
      ...accessToken(scopes),
      ...(fake.scenario !== "no_refresh_token" && { refresh_token }),
      id_token: idToken(claims),
    })
  }

  function refreshed(refreshToken: string): Response {
    const grant = grants.get(refreshToken)
    if (!grant) return refusal("invalid_grant")
    if (fake.scenario !== "rotates") return Response.json(accessToken(grant.scopes))
    grants.delete(refreshToken)
    const refresh_token = `1//${randomUUID()}`
    grants.set(refresh_token, grant)
    return Response.json({ ...accessToken(grant.scopes), refresh_token })
  }

  function assertion(text: string): Response {
    const [header, claims, signature] = text.split(".")
    const { alg } = JSON.parse(Buffer.from(header!, "base64url").toString())
    const { iss, aud, iat, exp, scope } = JSON.parse(Buffer.from(claims!, "base64url").toString())
    const key = keys.get(iss)
    const seconds = now() / 1_000
    const isSigned =
      key !== undefined &&
      alg === "RS256" &&
      verify("RSA-SHA256", Buffer.from(`${header}.${claims}`), createPublicKey(key), Buffer.from(signature!, "base64url"))
    if (!isSigned || aud !== `${origin}/token` || iat > seconds + 60 || exp < seconds || exp - iat > TOKEN_SECONDS)
      return refusal("invalid_grant")
    const { scope: _, ...issued } = accessToken(scope.split(" "))
    return Response.json(issued)
  }

  function accessToken(scopes: readonly string[]) {
    const access_token = `ya29.${randomUUID()}`
    tokens.set(access_token, { scopes: [...scopes], expiresAt: now() + TOKEN_SECONDS * 1_000 })
    return { access_token, expires_in: TOKEN_SECONDS, scope: scopes.join(" "), token_type: "Bearer" }
  }

  function idToken(claims: object): string {
    const seconds = Math.floor(now() / 1_000)
    const parts = [
      { alg: "RS256", typ: "JWT", kid: "1" },
      { ...claims, iat: seconds, exp: seconds + TOKEN_SECONDS },
    ]
    const signed = parts.map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".")
    return `${signed}.${sign("RSA-SHA256", Buffer.from(signed), idTokenKey.privateKey).toString("base64url")}`
  }

  function revoke(form: URLSearchParams): Response {
    const given = form.get("token") ?? ""
    fake.requests.push({ path: "/revoke" })
    fake.revoked.push(given)
    grants.delete(given)
    return Response.json({})
  }

  const fake: Google = {
    origin,
    settings: {
      gsc_auth_url: `${origin}/o/oauth2/v2/auth`,
      gsc_token_url: `${origin}/token`,
      gsc_revoke_url: `${origin}/revoke`,
      google_client_id: CLIENT.id,
      google_client_secret: CLIENT.secret,
    },
    account: { sub: "1001", email: "ann@example.org" },
    scenario: "ok",
    droppedScopes: new Set(),
    delayMs: 0,
    requests: [],
    revoked: [],
    async consent(url) {
      const answer = await fetch(url, { redirect: "manual" })
      return new URL(answer.headers.get("location")!)
    },
    serviceAccount(email = "reader@project.iam.example") {
      const { publicKey, privateKey } = generateKeyPairSync("rsa", {
        modulusLength: 2048,
        publicKeyEncoding: { type: "spki", format: "pem" },
        privateKeyEncoding: { type: "pkcs8", format: "pem" },
      })
      keys.set(email, publicKey)
      // The real key names Google's token URL. The fake's must not be used either, because anyone can edit the file.
      const token_uri = `${origin}/canary`
      return { type: "service_account", client_email: email, private_key_id: "key-1", private_key: privateKey, token_uri }
    },
    scopesOf(request) {
      const found = tokens.get(request.headers.get("authorization")?.replace(/^Bearer /, "") ?? "")
      return found && found.expiresAt > now() ? found.scopes : undefined
    },
    api(answer) {
      apis.push(answer)
    },
    async [Symbol.asyncDispose]() {
      await server.stop(true)
    },
  }
  return fake
}

const refusal = (error: string, status = 400): Response => Response.json({ error, error_description: "The fake refuses." }, { status })
