import { block, escapeHtml, type Guide, prose } from "./markup.ts"

const ABOUT = `A program that sets up sites, such as that of an agency, needs a key for all sites of the organization with the scopes of what it does. To
give a role or a key to others, it also needs the scopes that these get. A key with all scopes can do everything below.

The configuration of a site is one document without ids: fields, settings, shields, goals, funnels and segments. Keep it in a repository, start with
that of a site that you have set up in the dashboard, and use it for other sites. \`POST …/configuration/preview\` lists what the document would change. \`PUT\` makes all changes
together or none, so the job can be repeated.`

/** Returns a shell script that creates a site from a document. */
export const setUpJob = (api: string): string => `#!/bin/sh -e
# Sets up the site of customer 4711. It can be repeated within 24 hours: the site is created once.
send() { curl -sS --fail-with-body -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" "$@"; }

site=$(send -H "Idempotency-Key: customer-4711" -d '{"name":"Blog","hosts":["blog.example"]}' "${api}/sites" |
  sed -n 's/^{"id":\\([0-9]*\\),.*/\\1/p')

# Without "site", the document leaves name and hosts as they are.
send -X PUT -d @configuration.json "${api}/sites/$site/configuration"

# A key with which the server of the customer sends events. The response contains it once.
send -H "Idempotency-Key: customer-4711" -d '{"name":"Server","scopes":["events:write"]}' "${api}/sites/$site/api-keys"

# The customer sees this site only.
send -d '{"email":"ann@blog.example","role":"viewer"}' "${api}/sites/$site/invitations"`

/** The document that the script of the guide sends. */
export const CONFIGURATION = `{
  "settings": { "respect_gpc": true },
  "shields": [{ "kind": "ip", "value": "203.0.113.0/24", "note": "Office" }],
  "goals": [{ "kind": "event", "value": "signup", "name": "Signed up" }],
  "segments": [{ "name": "From Germany", "filters": [{ "dimension": "country", "values": ["DE"] }] }]
}`

/** Explains how a program sets up sites. */
export const provisioningGuide = (api: string): Guide => ({
  id: "provisioning",
  title: "Setting up sites",
  html: `${prose(ABOUT)}${block("configuration.json", escapeHtml(CONFIGURATION))}${block("Shell", escapeHtml(setUpJob(api)))}`,
})
