import { type TProperties, Type as t } from "@sinclair/typebox"
import type { Detail } from "../openapi/route.ts"

/** Schemas of bodies for the documentation. Services validate these bodies, because their rules go beyond a schema. */

const body = (properties: TProperties, required = true): Pick<Detail, "requestBody"> => ({
  requestBody: { required, content: { "application/json": { schema: t.Object(properties, { additionalProperties: false }) } } },
})

const secret = (description: string) => t.String({ minLength: 1, maxLength: 1_024, description })
const name = (description: string) => t.String({ minLength: 1, maxLength: 100, description })
const id = (description: string) => t.Integer({ minimum: 1, description })
const choice = (description: string) => t.Optional(t.Union([t.String(), t.Null()], { description }))

const SignInEmail = t.String({ minLength: 1, maxLength: 254, description: "Email address of the user." })
const Email = t.String({ format: "email", maxLength: 254, description: "Email address." })
const Password = t.String({
  minLength: 12,
  maxLength: 256,
  description: "New password. It is not trimmed. Common passwords are rejected.",
})
const typedPassword = (description: string) => t.String({ maxLength: 1_024, description })
const Version = t.Optional(
  id("Version that you have read. If the resource was changed since, the response is 409. Default: no check by the body."),
)
const Passkey = {
  challenge_id: secret("Id of the challenge that the passkey signed."),
  response: t.Object({}, { additionalProperties: true, description: "Response of the browser's WebAuthn API." }),
}
const Code = secret("Current code of the authenticator app.")

/** Request bodies by operation. */
export const BODIES = {
  setUp: body({
    token: secret("Setup token from the console."),
    email: Email,
    password: Password,
    name: name("Name of the user."),
    organization: name("Name of the first organization."),
    site: t.Optional(
      t.Object({}, { additionalProperties: true, description: "First site, with the fields of a new site. Default: no site." }),
    ),
    dry_run: t.Optional(
      t.Boolean({
        description:
          "Whether to only validate the other fields and create nothing. The response is 200 with their problems. Default: false.",
      }),
    ),
  }),
  login: body({ email: SignInEmail, password: typedPassword("Password of the user.") }),
  factor: body({
    ticket: secret("Ticket from the first step of the sign-in."),
    code: t.Optional(Code),
    recovery_code: t.Optional(secret("Unused recovery code. Alternative to `code`.")),
  }),
  passkeyBegin: body(
    { ticket: t.Optional(secret("Ticket from the first step of the sign-in, if the passkey is the second factor.")) },
    false,
  ),
  passkey: body(Passkey),
  forgot: body({ email: SignInEmail }),
  reset: body({ token: secret("Token from the emailed link."), password: Password }),
  token: body({ token: secret("Token from the emailed link.") }),
  proof: body({
    password: t.Optional(typedPassword("Password of the user. Send either the password, a code or a passkey response.")),
    code: t.Optional(Code),
    ...optional(Passkey),
  }),
  link: body({
    ticket: secret("Ticket from the fragment of the page to which the identity provider returned."),
    password: t.Optional(typedPassword("Password of the existing account. Required unless you are signed in to it.")),
  }),

  profile: body({
    name: t.Optional(name("Display name.")),
    locale: choice("Language tag for dates and numbers. null means the language of the browser."),
    time_format: choice("Clock format: `12h` or `24h`. null means the format of the locale."),
    theme: choice("Colour theme: `auto`, `light` or `dark`. null means `auto`."),
    shortcuts: t.Optional(t.Boolean({ description: "Whether keyboard shortcuts are enabled." })),
    start_page: choice("Path that opens after sign-in. null means the list of sites."),
    version: Version,
  }),
  email: body({ email: Email }),
  password: body({
    current: t.Optional(typedPassword("Current password. Required unless the user has none.")),
    password: Password,
  }),
  leave: body({ organization_id: id("Id of the organization.") }),
  totp: body({ ticket: secret("Ticket from the start of adding an app."), code: secret("First code of the authenticator app.") }),
  newPasskey: body({ ...optional(Passkey), name: t.Optional(name("Name of the passkey. Default: `Passkey`.")) }),
  passkeyName: body({ name: t.Optional(name("Name of the passkey.")), version: Version }),

  accept: body(
    {
      name: t.Optional(name("Name of the new user. Required unless you are signed in.")),
      password: t.Optional(
        t.String({
          minLength: 12,
          maxLength: 256,
          description: "Password of the new user. Required unless you are signed in. Common passwords are rejected.",
        }),
      ),
    },
    false,
  ),
  confirmation: body({ confirm: t.String({ description: "Current name, as confirmation." }) }),
  removal: body(
    {
      transfer_to: t.Optional(id("Id of another member of the organization. Reserved: it is validated, but has no effect.")),
    },
    false,
  ),
  owner: body({ user_id: id("Id of the member who becomes the owner.") }),
} as const

function optional(properties: TProperties): TProperties {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, t.Optional(schema)]))
}
