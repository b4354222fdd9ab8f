// Generated from openapi.json by generate.mjs.

/** The members of type int64, which are bigint. */
export const INT64_MEMBERS: readonly string[] = ["categoryId","id"];

export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @enum {string} */
        PetStatus: "available" | "pending" | "sold";
        Pet: {
            /**
             * Format: int64
             * @description Unique ID, assigned on creation.
             * @example 42
             */
            id: bigint;
            /**
             * @description Name of the pet.
             * @example Rex
             */
            name: string;
            /**
             * Format: int64
             * @description ID of the category of the pet.
             * @example 7
             */
            categoryId: bigint;
            /**
             * @description Availability status. Absent if the pet has none.
             * @example available
             */
            status?: components["schemas"]["PetStatus"];
        };
        NewPet: {
            /**
             * @description Name of the pet. At least one visible character, no control characters.
             * @example Rex
             */
            name: string;
            /**
             * Format: int64
             * @description ID of the category of the pet.
             * @example 7
             */
            categoryId: bigint;
            /**
             * @description Availability status. Absent if the pet has none.
             * @example available
             */
            status?: components["schemas"]["PetStatus"];
        };
        /** @description Machine-readable. Codes may be added: handle an unknown code by its status. */
        ErrorCode: "invalid_request" | "malformed_json" | "malformed_request" | "missing_api_key" | "invalid_api_key" | "insufficient_scope" | "pet_not_found" | "not_found" | "method_not_allowed" | "request_timeout" | "idempotency_key_in_use" | "key_already_rotated" | "key_revoked" | "operation_removed" | "payload_too_large" | "uri_too_long" | "unsupported_media_type" | "expectation_failed" | "idempotency_key_reused" | "rate_limit_exceeded" | "key_banned" | "header_fields_too_large" | "internal_error" | "service_unavailable";
        Error: {
            /**
             * @description Machine-readable error code.
             * @example invalid_request
             */
            code: components["schemas"]["ErrorCode"];
            /**
             * @description Human-readable description.
             * @example limit must be an integer between 1 and 100
             */
            message: string;
            /**
             * @description The HTTP status code.
             * @example 400
             */
            status: number;
        };
        UsageWindow: {
            /**
             * Format: int64
             * @description Requests allowed per window.
             * @example 60
             */
            limit: number;
            /**
             * Format: int64
             * @description Requests left in this window.
             * @example 42
             */
            remaining: number;
            /**
             * Format: int64
             * @description End of this window (Unix time).
             * @example 1764892860
             */
            resetAt: number;
        };
        UsageLimits: {
            minute: components["schemas"]["UsageWindow"];
            day: components["schemas"]["UsageWindow"];
        };
        Usage: {
            /**
             * @description The plan of the key.
             * @example free
             * @enum {string}
             */
            plan: "free" | "pro" | "business" | "enterprise";
            /**
             * @description The scopes of the key.
             * @example [
             *       "pets:read"
             *     ]
             */
            scopes: string[];
            limits: components["schemas"]["UsageLimits"];
            /**
             * @description End of the ban (Unix time), or null.
             * @example null
             */
            bannedUntil: number | null;
            /**
             * @description Expiry of the key (Unix time), or null.
             * @example null
             */
            expiresAt: number | null;
        };
        /** @description A page of pets. */
        Pets: components["schemas"]["Pet"][];
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
