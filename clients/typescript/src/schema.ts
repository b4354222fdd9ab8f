// Generated from openapi.json by generate.mjs.

/** The members of type int64, which are bigint. */
export const INT64_MEMBERS: readonly string[] = ["categoryId","id"];

/** The members that are times, as Date. */
export const TIME_MEMBERS: readonly string[] = ["at","bannedUntil","createdAt","disabledAt","expiresAt","firstAt","lastUsedAt","resetAt","revokedAt","startsAt"];

export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * @description Availability status. Absent if the pet has none.
         * @enum {string}
         */
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
        Key: {
            /**
             * @description ID of the key. It is no secret.
             * @example key_0Lj0QR9b3sycDOpwV
             */
            id: string;
            /**
             * @description Name of the key.
             * @example City zoo
             */
            name: string;
            /**
             * @description The plan of the key.
             * @example free
             * @enum {string}
             */
            plan: "free" | "pro" | "business" | "enterprise";
            /**
             * @description The scopes of the key.
             * @example [
             *       "key:rotate"
             *     ]
             */
            scopes: string[];
            /**
             * Format: int64
             * @description Requests allowed per minute.
             * @example 60
             */
            perMinute: number;
            /**
             * Format: int64
             * @description Requests allowed per day.
             * @example 1000
             */
            perDay: number;
            /**
             * @description Last 4 characters of the key.
             * @example Sgwa
             */
            last4: string;
            /**
             * Format: date-time
             * @description When the key was issued.
             * @example 2025-12-05T00:00:00.000Z
             */
            createdAt: Date;
            /**
             * @description Expiry of the key, or null.
             * @example null
             */
            expiresAt: Date | null;
            /**
             * @description When the key was revoked, or null.
             * @example null
             */
            revokedAt: Date | null;
            /**
             * @description When the key was disabled, or null.
             * @example null
             */
            disabledAt: Date | null;
            /**
             * @description Last use, up to 60 seconds ago, or null.
             * @example null
             */
            lastUsedAt: Date | null;
            /** @description Address of the last use, or null. */
            lastUsedFrom: string | null;
            /**
             * @description End of the ban, or null.
             * @example null
             */
            bannedUntil: Date | null;
            /**
             * @description Addresses and CIDR ranges that may use the key. Empty: any.
             * @example [
             *       "203.0.113.0/24"
             *     ]
             */
            allowedFrom: string[];
            /**
             * @description ID of the client. It survives rotations.
             * @example key_0Lj0QR9b3sycDOpwV
             */
            clientId: string;
            /** @description ID of the successor, or null. */
            replacedBy: string | null;
        };
        KeyRotation: {
            /**
             * @description How long the old key stays valid, at most until its expiry.
             * @default 86400
             */
            graceSeconds: number;
        };
        PreviousKey: {
            /**
             * @description ID of the key. It is no secret.
             * @example key_0Lj0QR9b3sycDOpwV
             */
            id: string;
            /**
             * Format: date-time
             * @description End of the old key.
             * @example 2025-12-05T00:00:00.000Z
             */
            expiresAt: Date;
        };
        RotatedKey: {
            /**
             * @description ID of the key. It is no secret.
             * @example key_0Lj0QR9b3sycDOpwV
             */
            id: string;
            /**
             * @description Expiry of the key, or null.
             * @example null
             */
            expiresAt: Date | null;
            /**
             * @description The new key. Store it now: it is not shown again.
             * @example psk_EXAMPLE
             */
            key: string;
            previous: components["schemas"]["PreviousKey"];
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
             * Format: date-time
             * @description End of this window.
             * @example 2025-12-05T00:00:00.000Z
             */
            resetAt: Date;
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
             * @description End of the ban, or null.
             * @example null
             */
            bannedUntil: Date | null;
            /**
             * @description Expiry of the key, or null.
             * @example null
             */
            expiresAt: Date | null;
        };
        UsageHour: {
            /**
             * Format: date-time
             * @description Start of the hour.
             * @example 2025-12-05T00:00:00.000Z
             */
            startsAt: Date;
            /**
             * @description Number of requests by error code; `ok` for those without an error.
             * @example {
             *       "ok": 60,
             *       "rate_limit_exceeded": 5
             *     }
             */
            codes: {
                [key: string]: number;
            };
        };
        RejectedRequests: {
            /**
             * Format: date-time
             * @description The latest request.
             * @example 2025-12-05T00:00:00.000Z
             */
            at: Date;
            /**
             * Format: date-time
             * @description The first request.
             * @example 2025-12-05T00:00:00.000Z
             */
            firstAt: Date;
            /**
             * Format: int64
             * @description Number of requests.
             * @example 5
             */
            count: number;
            /**
             * @description The error code.
             * @example rate_limit_exceeded
             */
            code: string;
            /**
             * @description ID of the operation.
             * @example listPets
             */
            operation: string;
            /**
             * @description Address of the sender.
             * @example 192.0.2.1
             */
            address: string;
            /**
             * @description The window of the plan that was full, otherwise null.
             * @example minute
             */
            window: ("minute" | "day") | null;
        };
        UsageHistory: {
            /** @description Hours with requests, oldest first. */
            hours: components["schemas"]["UsageHour"][];
            /** @description The latest ten groups of rejected requests, newest first. A group has the same code, operation, address and window on one UTC day. */
            rejected: components["schemas"]["RejectedRequests"][];
        };
        /** @description Machine-readable. Codes may be added: handle an unknown code by its status. */
        ErrorCode: "invalid_request" | "malformed_json" | "malformed_request" | "missing_api_key" | "invalid_api_key" | "insufficient_scope" | "https_required" | "address_not_allowed" | "not_found" | "method_not_allowed" | "request_timeout" | "idempotency_key_in_use" | "key_already_rotated" | "key_revoked" | "operation_removed" | "payload_too_large" | "uri_too_long" | "unsupported_media_type" | "expectation_failed" | "idempotency_key_reused" | "rate_limit_exceeded" | "key_banned" | "header_fields_too_large" | "internal_error" | "service_unavailable" | "pet_not_found";
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
