#pragma once

#include <string_view>

// Tokens and public keys that openssl has made: tests/api/issuer.py is how. Both tokens are of
// https://login.example.com for https://ebb.example.com, about ann, from 1800000000 to 1800000600.

namespace ebb::tests {

inline constexpr std::string_view kFirstKey =
    R"({"kid":"first","use":"sig","alg":"RS256","kty":"RSA","n":"szyySbOhJW_3Lct94X)"
    R"(yGf3XrEfQx-gB3iSN0VjlJAhk6uhKRCqBb6gV3NC_Sfn0ndc7hj1Pb0k0JF8e3HeTko66P2kxWN8)"
    R"(k73DJ7c9eWDxO0Xx_hWi3QkY0uAngRQ7_aqIkMxTwlg1AuV3ZckQEPC4X-eseB6FBypGYbNRcqAS)"
    R"(XQDprYkqjS8sDpQmDzp6m52X7fpx8WagzZdzsD6xypMZyGsBjlARrQU1Y3wyoy0oYsedxWpxzJsD)"
    R"(IQoNXS69y62seSY2dHcMKz1SIaJdHSVzZaWHQek3DgXl9hFXVyjECMJSwaxCEtIDxVMOzOOGhEg7)"
    R"(U_RTEmubVmprvrnFTD_w","e":"AQAB"})";
inline constexpr std::string_view kFirstToken =
    R"(eyJhbGciOiAiUlMyNTYiLCAia2lkIjogImZpcnN0IiwgInR5cCI6ICJKV1QifQ.eyJpc3MiOiAia)"
    R"(HR0cHM6Ly9sb2dpbi5leGFtcGxlLmNvbSIsICJhdWQiOiAiaHR0cHM6Ly9lYmIuZXhhbXBsZS5jb)"
    R"(20iLCAic3ViIjogImFubiIsICJpYXQiOiAxODAwMDAwMDAwLCAiZXhwIjogMTgwMDAwMDYwMCwgI)"
    R"(mdyb3VwcyI6IFsiZmluYW5jZSJdfQ.szZ1_0-Hj5uUMGbCEJx166mv7CiV4E_5Z0FMBNTiZ7d0gG)"
    R"(EE-ohVqLMCGa-4Bo9dJ-luPFXu3dLj9bwN4VKo6R1UPB4FHXteVta394vNCJ_ZJoeegYx4UcDydB)"
    R"(o9MRMTTOuv5BJSDaRJQnhxOSJH2dPcYkEDeJLtv_kzISkSxfVE6HPOlZhi9-GWdaLmGB4tfwkPJf)"
    R"(0AHt3k-FSzgthX6lNQxtQ0_WAX64Oe_cyAIF4_h8HtzFH2uEyaHrQ_KUPWcX9p7XEtOnBLtC34Dd)"
    R"(BvOs4S6ypEmWo_r63t3DjWv4zyaOMrD5rh6EqiUUApZQnJ26EGdoHZMhav_l9IARgKuA)";

inline constexpr std::string_view kSecondKey =
    R"({"kid":"second","use":"sig","alg":"ES256","kty":"EC","crv":"P-256","x":"K6A6)"
    R"(M3reSSOahpkZDEdfqL6nn77slSGkbPDRVkYBmeE","y":"CRPvlaZnzxgfAcBQ_nSfOswvok3c6A)"
    R"(qmFTavowgTVZQ"})";
inline constexpr std::string_view kSecondToken =
    R"(eyJhbGciOiAiRVMyNTYiLCAia2lkIjogInNlY29uZCIsICJ0eXAiOiAiSldUIn0.eyJpc3MiOiAi)"
    R"(aHR0cHM6Ly9sb2dpbi5leGFtcGxlLmNvbSIsICJhdWQiOiAiaHR0cHM6Ly9lYmIuZXhhbXBsZS5j)"
    R"(b20iLCAic3ViIjogImFubiIsICJpYXQiOiAxODAwMDAwMDAwLCAiZXhwIjogMTgwMDAwMDYwMCwg)"
    R"(Imdyb3VwcyI6IFsiZmluYW5jZSJdfQ.7lkvFs3bdB_8kAMZ3jlLEpRif-I1cfRt3zqZCxxOIcu49)"
    R"(RvR7OVLeEIvFhsPBrFeOgdPs9J1WEGcMSvAkKZlQw)";

}  // namespace ebb::tests
